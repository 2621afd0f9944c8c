#pragma once
/// Orders of one computation's work, by different constructions; the planner keeps the best.

#include "schedule/work_graph.h"

namespace lowtide::engine {

enum class OrderKind : uint8_t {
  kGiven,       ///< as the module has it
  kDepthFirst,  ///< operands by (peak - result), as for trees (Liu 1987)
  kByFreed,     ///< among ready work, the one that frees most beyond what it allocates
  kBackwards,   ///< from the end: of work without unplaced users, the one that allocates most beyond what it keeps live
  kLate,        ///< as given, but each as late as its first reader allows
};
inline constexpr OrderKind kOrderKinds[] = {OrderKind::kGiven, OrderKind::kDepthFirst, OrderKind::kByFreed,
                                            OrderKind::kBackwards, OrderKind::kLate};

/// A permutation of the graph's nodes that keeps its edges.
std::vector<int32_t> make_order(const WorkGraph& graph, OrderKind kind);

}  // namespace lowtide::engine
