#pragma once
/// A plan checked on a small instantiation of its program (passes/resize/resize.h).

#include <optional>

#include "backend/backend.h"
#include "compile/planner.h"
#include "report/fit_report.h"

namespace lowtide::engine {

inline constexpr double kQuickNs = 1e9;  ///< of the interpreter

/// In words, with which of the rows results differ first: PlanComparison::first_wrong.
std::string culprit(const CheckedFit& checked, const std::optional<size_t>& first);

struct SmallCheck {
  const Module& module;
  const Planner& planner;      ///< of it
  const Backend& backend;      ///< of its target
  const Decisions& decisions;  ///< spelt
  size_t control = 0;          ///< results are falsified after this decision

  /// `of`: what is made small: the module, with everything that is done to it; or, `is_shared`, what the planner
  /// shares: rows before the streams may do less to a small program, and streams not find their values then.
  /// Adds to `checked` what was exercised; a fault of kind kWrongValues where results differ.
  Status check(const Module& of, bool is_shared, CheckedFit& checked) const;
};

}  // namespace lowtide::engine
