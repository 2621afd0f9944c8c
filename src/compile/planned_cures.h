#pragma once
/// Ways to free the values at the peak, with bytes and modelled time of plans that do it.

#include "compile/frontier.h"
#include "report/report.h"

namespace lowtide::engine {

/// Replaces the estimates in the largest rows of a report by those of actual plans: streams on top of the free plan
/// that hide these values, donated arguments, and, for the program as given, values that the free plan doesn't have at
/// its peak. Few plans are made, none for very large modules: their rows keep estimates, and a warning says so.
Status plan_cures(const Module& module, const Planner& planner, const Frontier& frontier, Report& report);

}  // namespace lowtide::engine
