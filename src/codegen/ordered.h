#pragma once
/// Splits sequential loops without carried values, such as a scatter: the independent part runs for several iterations
/// in parallel lanes, and only accesses to memory that other iterations write run in order.

#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

struct OrderedLoop {
  std::vector<Item> ahead;   ///< in lanes
  std::vector<Item> behind;  ///< in order: nodes and stores
  std::vector<NodeId> kept;  ///< nodes and loops in `ahead` that `behind` reads
  bool splits() const { return !ahead.empty() && !behind.empty(); }
};

/// Empty if the loop can't be split.
OrderedLoop take_apart(const Nest& nest, int32_t loop);

}  // namespace lowtide::engine
