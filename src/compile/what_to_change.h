#pragma once
/// What the user could change so that a program needs less: each change made, and planned anew.

#include "compile/decisions.h"
#include "report/fit_report.h"

namespace lowtide {

/// decisions: of the plan whose peak is `peak`. Only what saves something, most first.
Result<std::vector<ChangeRow>> what_to_change(const Module& module, const Decisions& decisions, int64_t peak);

}  // namespace lowtide
