#pragma once
/// What a program would need if a dimension of its arguments were half as long: a batch, a sequence, a width.

#include "compile/compile.h"
#include "report/fit_report.h"

namespace lowtide::engine {

/// Halves each of the few argument dimensions on which most bytes at the peak of `best` depend, along with all
/// dependent dimensions (passes/resize/resize.h), and plans the resized program anew: with the same decisions, and by a
/// short search. Returns only those that lower the peak.
Result<std::vector<ChangeRow>> halve_dimensions(const Module& module, const Compiled& best);

}  // namespace lowtide::engine
