#pragma once
/// The transitive reduction of an order: of a graph without circles, the edges that no path of others stands for.

#include <cstdint>
#include <vector>

namespace lowtide::engine {

/// before[v]: nodes that come before node v, ascending, all smaller than v.
void remove_implied_edges(std::vector<std::vector<int32_t>>& before);

}  // namespace lowtide::engine
