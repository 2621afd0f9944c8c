#pragma once
/// Every plain operation (nest/legalise.h) of every type, so that a machine that can do these can do all nests.

#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

/// A nest for each: element by element of as many buffers as it has operands.
std::vector<Nest> plain_set();

}  // namespace lowtide::engine
