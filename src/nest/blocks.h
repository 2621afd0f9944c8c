#pragma once
/// Nesting of blocks.

#include <functional>
#include <optional>
#include <vector>

#include "base/int128.h"
#include "nest/nest.h"

namespace lowtide::engine {

/// Is `block` the block `outer`, or nested in it at any depth?
bool stands_in(const Nest& nest, int32_t block, int32_t outer);

/// The loops around a block, the innermost first; a while loop counts twice for its body, which is nested in its head.
std::vector<int32_t> loops_around(const Nest& nest, int32_t block);

/// How often a block is executed. None: not all loops around it are parallel.
std::optional<Int128> parallel_iterations(const Nest& nest, int32_t block);

/// Puts everything of a block but its items, and the blocks in it, into another one; `renamed` gives the node that
/// replaces each.
void move_block(Nest& nest, int32_t from, int32_t into, const std::function<NodeId(NodeId)>& renamed);

}  // namespace lowtide::engine
