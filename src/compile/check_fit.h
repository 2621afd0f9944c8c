#pragma once
/// Checks that a fitted program still computes the same.

#include "backend/backend.h"
#include "compile/compile.h"
#include "report/fit_report.h"

namespace lowtide::engine {

struct CheckOptions {
  size_t control = 0;       ///< falsify results after this decision, counted from 1: the check must notice
  bool only_small = false;  ///< a small instantiation, whether or not the program itself could be run
};

/// Runs the program as given and as fitted on seeded arguments, and compares all results. As given: interpreted if that
/// is quick, otherwise compiled without streams. A program that doesn't fit in memory, or would run for minutes, is
/// compared as a small instantiation (passes/resize/resize.h), planned with the same decisions; if some of them don't
/// apply to it, they are tried again on a small instantiation of the module at the point where streams are decided. An
/// error of kind kWrongValues names the first decision with which the results differ. backend: the one of the target
/// that was planned for.
Result<CheckedFit> check_fit(const Module& module, const Compiled& fitted, const Backend& backend,
                             const CheckOptions& options = {});

}  // namespace lowtide::engine
