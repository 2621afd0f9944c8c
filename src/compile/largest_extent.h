#pragma once
/// The largest extent of a dimension with which a program fits into a limit: the program is resized (passes/resize)
/// together with all dependent dimensions, and planned anew.

#include <functional>
#include <string_view>

#include "base/status.h"
#include "ir/module.h"
#include "lowtide/largest_extent.h"

namespace lowtide::engine {

struct PeakAndTime {
  int64_t peak = 0;    ///< bytes
  double seconds = 0;  ///< modelled
};
/// The peak of a module's plan within the limit, or else of the lowest found.
using PeakOf = std::function<Result<PeakAndTime>(std::unique_ptr<Module>)>;

/// dimension: "PATH:D", "NAME:D" or "NUMBER:D", an argument's path, its name or its number, and its dimension.
/// multiple_of: only its multiples are tried. Doubles until it doesn't fit, then interpolates between the largest that
/// fits and the smallest that doesn't; peaks needn't increase with every row (tiles divide some extents and not
/// others), so only these two neighbours are known. An error of kind kUsage if there is no such dimension, kUnsupported
/// if it can't change.
Result<LargestExtent> largest_extent(const Module& module, std::string_view dimension, int64_t limit,
                                     int64_t multiple_of, const PeakOf& peak_of);

}  // namespace lowtide::engine
