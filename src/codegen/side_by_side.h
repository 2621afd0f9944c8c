#pragma once
/// Consecutive stores to adjacent elements: both parts of complex numbers, the columns of narrow rows. If the distance
/// between lanes equals the number of such stores, there are no gaps, and whole registers are written; scatters would
/// write their elements one by one.

#include <cstdint>
#include <span>
#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

/// The adjacent stores at the beginning of `items`, by ascending place; none if the first store has no neighbours.
std::vector<int32_t> side_by_side(const Nest& nest, std::span<const Item> items);

}  // namespace lowtide::engine
