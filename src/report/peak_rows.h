#pragma once
/// The rows of the tables at the peak.

#include <string>
#include <vector>

#include "report/category.h"
#include "report/report.h"
#include "text/input.h"

namespace lowtide::engine {

/// The buffers live at the peak of an account, largest first; similar ones of the same origin are one row with a count.
std::vector<PeakRow> peak_rows(const Graph& graph, const Account& account, const Categories& categories,
                               const std::vector<ArgumentRow>& arguments);

/// XLA's own allocations with the values in them, largest first.
std::vector<PeakRow> allocation_rows(const Graph& graph, const Account& account, const Categories& categories,
                                     const XlaReport& report);

/// "backward scan, %fusion.88".
std::string peak_place(const Account& account);

}  // namespace lowtide::engine
