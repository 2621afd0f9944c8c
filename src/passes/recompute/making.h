#pragma once
/// Whether an instruction can be recomputed, and what that costs.

#include <unordered_set>

#include "ir/module.h"
#include "target/cost.h"

namespace lowtide::engine {

/// Instructions that can't be recomputed: arguments, constants, operations with effects, those with control edges.
std::unordered_set<const Instruction*> find_fixed(const Computation& computation);

/// The time to compute all elements once, with all cores.
double make_ns(const Instruction& i, const Cost& cost);

}  // namespace lowtide::engine
