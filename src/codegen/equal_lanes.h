#pragma once
/// In a vectorised loop: values that are equal in groups of adjacent lanes, such as a random word from which several
/// narrow numbers are extracted. Each is computed once per group.
///
///   parallel i < n              lanes i       0  1  2  3  4  5  6  7
///     %0 = divide(i, 2)         %0            0     1     2     3
///     %1 = hash(%0)             %1            h0    h1    h2    h3

#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

struct EqualLanes {
  int32_t group = 1;        ///< lanes, a power of two
  std::vector<bool> nodes;  ///< computed once per group; empty: none
  bool has(NodeId id) const { return !nodes.empty() && nodes[id]; }
};

/// Steps of the loop begin at multiples of the group.
EqualLanes equal_lanes(const Nest& nest, int32_t lane_loop, const std::vector<bool>& varying);

}  // namespace lowtide::engine
