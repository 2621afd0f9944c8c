#pragma once
/// Which slots of a stack the iterations of a loop read and write.

#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// Where a slice begins in each iteration, kept within 0 and `last` as slices are. `start`: a scalar in the body of
/// `loop` that depends only on the loop's counter; else none.
std::vector<int64_t> slots_of_trips(const Instruction& start, const Instruction& loop, int64_t last);

/// `update`: a dynamic-update-slice in the body of `loop`. Do all iterations write different elements? Starts are
/// computed for every iteration: they must be functions of the loop's counter alone.
bool writes_each_slot_once(const Instruction& update, const Instruction& loop);

}  // namespace lowtide::engine
