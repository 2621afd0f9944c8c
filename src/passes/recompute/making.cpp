#include "passes/recompute/making.h"

#include <algorithm>

#include "analysis/evaluations.h"
#include "passes/rewrite.h"
#include "passes/rules/recipe.h"

namespace lowtide::engine {

std::unordered_set<const Instruction*> find_fixed(const Computation& computation) {
  const SideEffects effects(computation.module());
  const std::vector<bool> ordered = ordered_instructions(computation.module());
  std::unordered_set<const Instruction*> fixed;
  for (const auto& i : computation.instructions()) {
    const bool is_made_once = i->opcode == Opcode::kParameter || i->opcode == Opcode::kConstant;
    if (is_made_once || effects.has(*i) || ordered[static_cast<size_t>(i->id)] || !i->shape.dynamic.empty())
      fixed.insert(i.get());
  }
  return fixed;
}

double make_ns(const Instruction& i, const Cost& cost) {
  switch (i.opcode) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kOptBarrier:
    case Opcode::kBitcast:
    case Opcode::kReshape: return 0;
    case Opcode::kWhile: return guessed_trips(i) * time_of(*i.called[1], cost) / cost.machine().cores;
    case Opcode::kConditional: {
      double most = 0;
      for (const Computation* branch : i.called) most = std::max(most, time_of(*branch, cost));
      return most / cost.machine().cores;
    }
    default: return cost.repeated_ns(i) / cost.machine().cores;
  }
}

}  // namespace lowtide::engine
