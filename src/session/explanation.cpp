// The text forms of structs of the public interface.
#include "lowtide/explanation.h"

#include "lowtide/fit_report.h"
#include "lowtide/largest_extent.h"
#include "lowtide/peak_comparison.h"
#include "report/compare.h"
#include "report/fit_report.h"
#include "report/html.h"
#include "report/json.h"
#include "report/largest_extent.h"
#include "report/text.h"
#include "report/trace.h"

namespace lowtide {

std::string Explanation::json() const { return engine::to_json(*this); }
std::string Explanation::text(int64_t rows, bool utf8) const {
  return engine::to_text(*this, {.top = rows, .utf8 = utf8});
}
std::string Explanation::html() const { return engine::to_html(*this); }
std::string Explanation::trace() const { return engine::to_trace(*this); }

std::string FitReport::json() const { return engine::fit_json(*this); }
std::string FitReport::text(bool utf8) const { return engine::fit_text(*this, utf8); }

const LargestExtent::Trial* LargestExtent::largest() const {
  const Trial* last = nullptr;
  for (const Trial& trial : tried) {
    if (trial.fits) last = &trial;
  }
  return last;
}
const LargestExtent::Trial* LargestExtent::next() const {
  const Trial* const fits = largest();
  for (const Trial& trial : tried) {
    if (!trial.fits && (fits == nullptr || trial.extent > fits->extent)) return &trial;
  }
  return nullptr;
}
std::string LargestExtent::json() const { return engine::largest_extent_json(*this); }
std::string LargestExtent::text(bool utf8) const { return engine::largest_extent_text(*this, utf8); }

double PeakComparison::growth_percent() const {
  if (before.peak <= 0) return after.peak > 0 ? 100 : 0;
  return 100.0 * static_cast<double>(after.peak - before.peak) / static_cast<double>(before.peak);
}
std::string PeakComparison::json() const { return engine::to_json(*this); }
std::string PeakComparison::text(int64_t rows, bool utf8) const {
  return engine::to_text(*this, {.top = rows, .utf8 = utf8});
}
PeakComparison compare_peaks(const Explanation& before, const Explanation& after) {
  return engine::compare(before, after);
}

}  // namespace lowtide
