#pragma once
/// The largest extent of a dimension with which a program fits into a limit: the program is resized (passes/resize),
/// what follows the dimension with it, and planned anew.

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
/// Of the plan of a module that is low enough, or else of the lowest found.
using PeakOf = std::function<Result<PeakAndTime>(std::unique_ptr<Module>)>;

/// dimension: "PATH:D", "NAME:D" or "NUMBER:D", an argument's path, its name or its number, and its dimension.
/// multiple_of: extents that are tried. Doubles until it doesn't fit, then closes in on the border by what bytes grow
/// by; peaks needn't grow with every row (tiles divide some extents and not others), so that of the border only the
/// two neighbours are known. A fault of kind kUsage where there is no such dimension, kUnsupported where it can't
/// change.
Result<LargestExtent> largest_extent(const Module& module, std::string_view dimension, int64_t limit,
                                     int64_t multiple_of, const PeakOf& peak_of);

}  // namespace lowtide::engine
