#pragma once
/// The report on an input with its free plan.

#include "report/report.h"
#include "target/target.h"
#include "text/input.h"

namespace lowtide::engine {

/// `with_boxes`: see build_report.
Result<Report> explain(const Input& input, const Target& target, bool with_boxes = false);

}  // namespace lowtide::engine
