#pragma once
/// Builds the report of a program: the one place where the parts of an explanation meet.

#include "report/report.h"
#include "text/input.h"

namespace lowtide {

/// `with_boxes`: also the buffers as rectangles of time and address, which the page and the trace draw.
Report build_report(const Input& input, bool with_boxes = false);

}  // namespace lowtide
