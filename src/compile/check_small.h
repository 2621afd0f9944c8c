#pragma once
/// Checks a plan on a small instantiation of its program (passes/resize/resize.h).

#include <optional>

#include "backend/backend.h"
#include "compile/planner.h"
#include "report/fit_report.h"

namespace lowtide::engine {

inline constexpr double kQuickNs = 1e9;  ///< of the interpreter

/// Says with which of the rows results differ first (PlanComparison::first_wrong).
std::string culprit(const CheckedFit& checked, const std::optional<size_t>& first);

struct SmallCheck {
  const Module& module;
  const Planner& planner;      ///< of it
  const Backend& backend;      ///< of its target
  const Decisions& decisions;  ///< spelt
  size_t control = 0;          ///< results are falsified after this decision

  /// `of`: what is made small: the module, to which all passes are applied; or, if `is_shared`, the module after the
  /// passes that all plans share: these may do less to a small program, so that streams wouldn't find their values.
  /// Adds to `checked` what was exercised; an error of kind kWrongValues if results differ.
  Status check(const Module& of, bool is_shared, CheckedFit& checked) const;
};

}  // namespace lowtide::engine
