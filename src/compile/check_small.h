#pragma once
/// Checks a plan on a small instantiation of its program (passes/resize/resize.h).

#include <optional>

#include "backend/backend.h"
#include "compile/planner.h"
#include "report/fit_report.h"

namespace lowtide::engine {

inline constexpr double kQuickNs = 1e9;  ///< interpreter time that counts as quick

/// The decision with which results first differ, in words. first: from PlanComparison::first_wrong.
std::string culprit(const CheckedFit& checked, const std::optional<size_t>& first);

struct SmallCheck {
  const Module& module;
  const Planner& planner;      ///< of this module
  const Backend& backend;      ///< of the planner's target
  const Decisions& decisions;  ///< spelt
  size_t control = 0;          ///< results are falsified after this decision

  /// of: the module to resize: the given one, to which all passes are applied; or, if `is_shared`, the one after the
  /// passes that all plans share, since these may do less to a small program, so that streams wouldn't find their
  /// values. Marks the exercised rows of `checked`; an error of kind kWrongValues if results differ.
  Status check(const Module& of, bool is_shared, CheckedFit& checked) const;
};

}  // namespace lowtide::engine
