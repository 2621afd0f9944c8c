#pragma once
/// The parts of a nest that run separately.

#include <vector>

#include "codegen/kernel_plan.h"

namespace lowtide::engine {

/// One piece per loop of block 0 that stores something, with the part of block 0 that it needs. If block 0 itself
/// stores, or a storing loop's results are read after it, all of block 0 is one piece of one iteration.
std::vector<PiecePlan> pieces_of(const Nest& nest);

}  // namespace lowtide::engine
