#pragma once
/// Which slots of a stack the iterations of a loop read and write.

#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// The start of a slice in each iteration, clamped to [0, last] as slices are. `start`: a scalar in the body of `loop`;
/// none if it depends on more than the loop's counter.
std::vector<int64_t> slots_of_trips(const Instruction& start, const Instruction& loop, int64_t last);

/// `update`: a dynamic-update-slice in the body of `loop`. Do all iterations write different elements? Starts are
/// computed for every iteration: they must be functions of the loop's counter alone.
bool writes_each_slot_once(const Instruction& update, const Instruction& loop);

}  // namespace lowtide::engine
