#pragma once
/// Whether an instruction can be recomputed, and what that costs.

#include <unordered_set>
#include <vector>

#include "ir/module.h"
#include "ir/side_effects.h"
#include "target/cost.h"

namespace lowtide::engine {

/// What holds instructions of a module where they are. Those that are added later aren't held.
struct Ties {
  explicit Ties(const Module& module);
  SideEffects effects;
  std::vector<bool> ordered;  ///< by control edges; by id
};

/// Instructions that can't be recomputed: arguments, constants, operations with effects, those with control edges.
std::unordered_set<const Instruction*> find_fixed(const Computation& computation, const Ties& ties);
std::unordered_set<const Instruction*> find_fixed(const Computation& computation);

/// The time to compute all elements once, with all cores.
double make_ns(const Instruction& i, const Cost& cost);

}  // namespace lowtide::engine
