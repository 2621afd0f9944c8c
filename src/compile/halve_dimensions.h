#pragma once
/// What a program would need if a dimension of its arguments were half as long: a batch, a sequence, a width.

#include "compile/compile.h"
#include "report/fit_report.h"

namespace lowtide::engine {

/// The dimensions of arguments whose extents most bytes at the peak of `best` have, each halved with everything that
/// follows it (passes/resize/resize.h), and the resized program planned anew: by the same decisions, and by a short
/// search. Only those that lower the peak. A few plans for each of a few dimensions.
Result<std::vector<ChangeRow>> halve_dimensions(const Module& module, const Compiled& best);

}  // namespace lowtide::engine
