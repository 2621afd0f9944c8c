#pragma once
/// The report as one self-contained page: buffers drawn over time and address, and the tables.

#include <string>

#include "report/report.h"

namespace lowtide::engine {

std::string to_html(const Report& report);

}  // namespace lowtide::engine
