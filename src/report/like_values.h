#pragma once
/// Whether a value of one program may stand in another one under another name, as another type, transposed or in parts.

#include <string>
#include <vector>

#include "report/report.h"

namespace lowtide::engine {

/// What `rows`, the peak of a plan, have of the extents of `row`, as a sentence; empty where that can't be told.
std::string like_values_among(const PeakRow& row, const std::vector<PeakRow>& rows);

}  // namespace lowtide::engine
