#include "passes/execute/expand_fusions.h"

#include <fmt/format.h>

#include "passes/inline_bodies.h"
#include "passes/rewrite.h"

namespace lowtide::engine {

Result<PassResult> expand_fusions(Module& module) {
  const std::vector<bool> ordered = ordered_instructions(module);
  PassResult result;
  result.count = inline_bodies(module, [&](const Instruction& i) {
    const auto id = static_cast<size_t>(i.id);
    return i.opcode == Opcode::kFusion && i.called.size() == 1 && !(id < ordered.size() && ordered[id]);
  });
  result.changed = result.count > 0;
  result.note = fmt::format("{} fusions expanded", result.count);
  return result;
}

}  // namespace lowtide::engine
