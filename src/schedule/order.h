#pragma once
/// Lever 3: orders of one computation's work, each a construction of its own; whoever plans keeps the best.

#include "schedule/work_graph.h"

namespace lowtide::engine {

enum class OrderKind : uint8_t {
  kGiven,       ///< as the module has it
  kDepthFirst,  ///< operands by (peak - result), as for trees (Liu 1987)
  kByFreed,     ///< of what is ready, what frees most beyond what it makes
  kBackwards,   ///< from the end: of what nothing waits for any more, what makes most beyond what it keeps alive
  kLate,        ///< as given, but each as late as its first reader allows
};
inline constexpr OrderKind kOrderKinds[] = {OrderKind::kGiven, OrderKind::kDepthFirst, OrderKind::kByFreed,
                                            OrderKind::kBackwards, OrderKind::kLate};

/// A permutation of the graph's nodes that keeps its edges.
std::vector<int32_t> make_order(const WorkGraph& graph, OrderKind kind);

}  // namespace lowtide::engine
