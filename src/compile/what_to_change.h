#pragma once
/// What the user could change so that a program needs less: each change made, and planned anew.

#include "compile/planner.h"
#include "report/fit_report.h"

namespace lowtide {

inline constexpr size_t kMostDonations = 4;  ///< of the arguments that could be donated, the largest

/// Donations alone, each planned by the same decisions. Only what saves something.
std::vector<ChangeRow> donations_that_save(const Module& module, const Decisions& decisions, int64_t peak);

/// The lowest peak of the same module without Module::sums_in_order, searched for as fit does; nothing where the module
/// doesn't ask for that, or none is lower.
Result<std::vector<ChangeRow>> sums_in_any_order(const Module& module, Executor executor, int64_t peak);

/// Of the plan that `best` is: arguments that could be donated, by the same decisions; dimensions of arguments that
/// could be halved (halve_dimensions.h). Only what saves something, most first.
Result<std::vector<ChangeRow>> what_to_change(const Module& module, const Compiled& best);

}  // namespace lowtide
