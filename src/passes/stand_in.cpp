#include "passes/stand_in.h"

#include "ir/side_effects.h"
#include "ops/runnable.h"
#include "ops/stand_in.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool is_of_arrays(const Shape& shape) {
  bool all = true;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    all = all && leaf.is_array() && !is_complex(leaf.type) && leaf.type != ElementType::kToken;
  });
  return all;
}

}  // namespace

Result<PassResult> stand_in(Module& module) {
  int64_t count = 0;
  const SideEffects effects(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      const bool joins = memory_class(i->opcode) == MemoryClass::kCollective;
      if (!joins && i->opcode != Opcode::kCustomCall) continue;
      if ((!joins && why_not_run(*i).empty()) || effects.has(*i) || ordered[i->id]) continue;
      if (!is_of_arrays(i->shape)) continue;
      i->opcode = Opcode::kCustomCall;
      i->attributes = CustomCallAttributes{.target = std::string(kStandIn)};
      i->called.clear();
      i->extra.clear();
      i->backend_config.clear();
      ++count;
    }
  }
  return rewritten(count, "calls and collectives");
}

}  // namespace lowtide::engine
