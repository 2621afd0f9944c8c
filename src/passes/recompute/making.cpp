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
    if (is_made_once || effects.has(*i) || ordered[i->id] || !i->shape.dynamic.empty()) fixed.insert(i.get());
  }
  return fixed;
}

namespace {

/// Does a transposition move whole rows?
bool keeps_rows(const Instruction& transpose) {
  const Dims& from = transpose.as<DimensionsAttributes>().dimensions;
  return from.empty() || from.back() == std::ssize(from) - 1;
}

}  // namespace

double make_ns(const Instruction& i, const Cost& cost) {
  switch (i.opcode) {
    case Opcode::kOptBarrier:
    case Opcode::kBitcast:
    case Opcode::kReshape: return 0;
    case Opcode::kTranspose:
      if (keeps_rows(i)) return 0;  // read where it lies
      [[fallthrough]];
    default: return time_of(i, cost) / cost.machine().cores;
  }
}

}  // namespace lowtide::engine
