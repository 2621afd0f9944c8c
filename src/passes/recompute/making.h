#pragma once
/// Whether an instruction can be recomputed, and what that costs.

#include <unordered_set>

#include "ir/module.h"
#include "target/cost.h"

namespace lowtide::engine {

/// What can't be made twice: arguments and constants, what has effects, what control edges hold.
std::unordered_set<const Instruction*> find_fixed(const Computation& computation);

/// Of all elements, once, by all cores.
double make_ns(const Instruction& i, const Cost& cost);

}  // namespace lowtide::engine
