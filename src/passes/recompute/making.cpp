#include "passes/recompute/making.h"

#include <algorithm>

#include "analysis/evaluations.h"
#include "passes/rewrite.h"
#include "passes/rules/recipe.h"

namespace lowtide::engine {

Ties::Ties(const Module& module) : effects(module), ordered(ordered_instructions(module)) {}

std::unordered_set<const Instruction*> find_fixed(const Computation& computation, const Ties& ties) {
  const auto is_ordered = [&](const Instruction& i) {
    const auto id = static_cast<size_t>(i.id);
    return id < ties.ordered.size() && ties.ordered[id];
  };
  std::unordered_set<const Instruction*> fixed;
  for (const auto& i : computation.instructions()) {
    const bool is_made_once = i->opcode == Opcode::kParameter || i->opcode == Opcode::kConstant;
    if (is_made_once || ties.effects.has(*i) || is_ordered(*i) || !i->shape.dynamic.empty()) fixed.insert(i.get());
  }
  return fixed;
}

std::unordered_set<const Instruction*> find_fixed(const Computation& computation) {
  return find_fixed(computation, Ties(computation.module()));
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
