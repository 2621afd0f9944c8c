#include "passes/execute/expand_fusions.h"

#include "passes/inline_bodies.h"
#include "passes/rewrite.h"

namespace lowtide::engine {

Result<PassResult> expand_fusions(Module& module) {
  if (!has_any(module, {Opcode::kFusion})) return PassResult{};
  const std::vector<bool> ordered = ordered_instructions(module);
  const int64_t count = inline_bodies(module, [&](const Instruction& i) {
    const auto id = static_cast<size_t>(i.id);
    return i.opcode == Opcode::kFusion && i.called.size() == 1 && !(id < ordered.size() && ordered[id]);
  });
  return rewritten(count, "fusions expanded");
}

}  // namespace lowtide::engine
