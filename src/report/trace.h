#pragma once
/// Memory over time as a Chrome trace (chrome://tracing, Perfetto); one step of the timeline is one microsecond.

#include <string>

#include "report/report.h"

namespace lowtide::engine {

std::string to_trace(const Report& report);

}  // namespace lowtide::engine
