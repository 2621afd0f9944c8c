#pragma once
/// Local improvement of an order: work is moved across the peak.

#include "schedule/work_graph.h"

namespace lowtide::engine {

/// Never worse by the model. Tries at most `budget` orders.
std::vector<int32_t> improve_order(const WorkGraph& graph, std::vector<int32_t> order, int64_t budget);

}  // namespace lowtide::engine
