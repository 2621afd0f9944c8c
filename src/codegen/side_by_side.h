#pragma once
/// Stores that follow each other and write elements beside each other: both parts of complex numbers, the columns of
/// narrow rows. Where lanes are as far apart as there are of them nothing is left between, and whole registers are
/// written; scatters would write their elements one by one.

#include <cstdint>
#include <span>
#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

/// The stores that `items` begins with, by the places that they write, ascending; none where it begins with a store
/// that stands alone.
std::vector<int32_t> side_by_side(const Nest& nest, std::span<const Item> items);

}  // namespace lowtide::engine
