#pragma once
/// Turns a loop of n iterations into a loop over groups of k iterations, with an inner loop over the iterations of a
/// group.
///
///     while (i < n): body(i)     ==>     while (g < n / k): while (l < k): body(g * k + l)

#include "ir/module.h"

namespace lowtide::engine {

struct LoopGroups {
  Instruction* outer = nullptr;  ///< the loop itself
  Instruction* inner = nullptr;  ///< in its new body, with its old one
  Instruction* group = nullptr;  ///< in the new body: g
};

/// `counter`: the element of the loop's tuple that counts its iterations from 0 and isn't read after the loop; k
/// divides the trip count. The loop is one of LoopCarry::ok().
LoopGroups group_trips(Instruction& loop, size_t counter, int64_t trips, int64_t k);

/// A condition: element `counter` of the tuple is less than `trips`.
Computation* count_to(Module& module, const Shape& state, size_t counter, int64_t trips);

}  // namespace lowtide::engine
