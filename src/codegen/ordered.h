#pragma once
/// Sequential loops that carry nothing, a scatter for example, taken apart: what an iteration computes by itself runs
/// for several iterations side by side, and only what reads and writes memory that others write, one after the other.

#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

struct OrderedLoop {
  std::vector<Item> ahead;   ///< in lanes
  std::vector<Item> behind;  ///< in order: nodes and stores
  std::vector<NodeId> kept;  ///< nodes and loops in `ahead` that `behind` reads
  bool splits() const { return !ahead.empty() && !behind.empty(); }
};

/// Empty where the loop can't be taken apart.
OrderedLoop take_apart(const Nest& nest, int32_t loop);

}  // namespace lowtide::engine
