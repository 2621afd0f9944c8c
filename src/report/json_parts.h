#pragma once
/// The parts that all reports share, as JSON.

#include <nlohmann/json.hpp>
#include <vector>

#include "report/report.h"

namespace lowtide::engine {

/// The head of a report: names and sizes of the plan.
nlohmann::ordered_json plan_json(const PlanSummary& plan);
nlohmann::ordered_json floor_json(const LowerBound& floor);
nlohmann::ordered_json peak_rows_json(const std::vector<PeakRow>& rows);

}  // namespace lowtide::engine
