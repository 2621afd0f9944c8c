#pragma once
/// The transitive reduction of an order: the edges of an acyclic graph that no path of other edges implies.

#include <cstdint>
#include <vector>

namespace lowtide::engine {

/// before[v]: nodes that come before node v, ascending, all smaller than v.
void remove_implied_edges(std::vector<std::vector<int32_t>>& before);

}  // namespace lowtide::engine
