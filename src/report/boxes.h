#pragma once
/// Buffers as rectangles of time and address, for the page and the trace.

#include <vector>

#include "report/category.h"
#include "report/report.h"

namespace lowtide::engine {

/// Every buffer of main memory: arguments and results below, the arena packed above them.
std::vector<TimelineBox> boxes_of(const Graph& graph, const Account& account, const Categories& categories);

}  // namespace lowtide::engine
