#pragma once
/// Rows at the peak as JSON: the same in every report.

#include <nlohmann/json.hpp>
#include <vector>

#include "report/report.h"

namespace lowtide {

nlohmann::ordered_json peak_rows_json(const std::vector<PeakRow>& rows);

}  // namespace lowtide
