#pragma once
/// Compares two programs: values at their peaks, matched by op name.

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/explanation.h"
#include "lowtide/visibility.h"

namespace lowtide {

struct PeakDifference {
  std::string key;                        ///< the user's scopes in the op name; shape and operation if there is none
  std::string shape_before, shape_after;  ///< the largest value with the key; empty: none
  Origin origin;
  int64_t before = 0, after = 0;  ///< bytes at the peak
  int64_t change() const { return after - before; }
};

struct PeakComparison {
  std::string module_before, module_after;
  Sizes before, after;
  std::vector<PeakDifference> differences;  ///< largest change first; those without a change are left out

  LOWTIDE_PUBLIC double growth_percent() const;  ///< of the peak
  /// As JSON, schema_version 1 (docs/schema/lowtide.schema.json).
  LOWTIDE_PUBLIC std::string json() const;
  /// For a terminal of 100 columns. rows: of the table; 0: all. utf8: false for plain ASCII.
  LOWTIDE_PUBLIC std::string text(int64_t rows = 10, bool utf8 = true) const;
};

/// Compares the programs as given, by XLA's own accounts if both programs came with one.
LOWTIDE_PUBLIC PeakComparison compare_peaks(const Explanation& before, const Explanation& after);

}  // namespace lowtide
