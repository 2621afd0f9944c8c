#pragma once
/// Blocks within blocks.

#include <vector>

#include "nest/nest.h"

namespace lowtide {

/// Is `block` the block `outer`, or one within it, however deep?
bool stands_in(const Nest& nest, int32_t block, int32_t outer);

/// The loops around a block, the innermost first; a while loop twice around its body, which stands in its head.
std::vector<int32_t> loops_around(const Nest& nest, int32_t block);

}  // namespace lowtide
