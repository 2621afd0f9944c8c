#pragma once
/// Memory over time as a drawn line.

#include <string>
#include <vector>

#include "report/report.h"

namespace lowtide::engine {

/// Lines of at most `width` columns: block characters, sizes at the left, phases below. Empty for a program without
/// steps.
std::vector<std::string> draw_curve(const Curve& curve, size_t width);

}  // namespace lowtide::engine
