#pragma once
/// Two programs beside each other: values at their peaks, matched by op name.

#include <string>
#include <vector>

#include "report/report.h"
#include "report/text.h"

namespace lowtide::engine {

struct Difference {
  std::string key;                        ///< user's scopes of the op name; shape and operation where there is none
  std::string shape_before, shape_after;  ///< of the largest value under the key; empty: not there
  Origin origin;
  int64_t before = 0, after = 0;  ///< bytes at the peak
  int64_t change() const { return after - before; }
};

struct ReportComparison {
  std::string module_before, module_after;
  Sizes before, after;
  std::vector<Difference> differences;  ///< largest change first; those without a change are left out
  double growth_percent() const;        ///< of the peak
};

ReportComparison compare(const Report& before, const Report& after);

std::string to_text(const ReportComparison& comparison, const TextOptions& options);
std::string to_json(const ReportComparison& comparison);

}  // namespace lowtide::engine
