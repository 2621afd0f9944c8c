#pragma once
/// The report for a terminal of 100 columns.

#include <string>

#include "report/report.h"

namespace lowtide::engine {

struct TextOptions {
  int64_t top = 10;  ///< rows of each table; 0: all
  bool utf8 = true;  ///< false: plain ASCII
  size_t width = 100;
};

std::string to_text(const Report& report, const TextOptions& options);

}  // namespace lowtide::engine
