#pragma once
/// Which slots of a stack the trips of a loop write.

#include "ir/module.h"

namespace lowtide::engine {

/// `update`: a dynamic-update-slice in the body of `loop`. Do all trips write different elements? Starts are computed
/// for every trip: they must be functions of the loop's counter alone.
bool writes_each_slot_once(const Instruction& update, const Instruction& loop);

}  // namespace lowtide::engine
