#pragma once
/// Whether a value of one program may be in another one with another name or type, transposed or in parts.

#include <string>
#include <vector>

#include "report/report.h"

namespace lowtide::engine {

/// Says which values of `rows`, the peak of a plan, have the extents of `row`; empty if that is unclear.
std::string like_values_among(const PeakRow& row, const std::vector<PeakRow>& rows);

}  // namespace lowtide::engine
