#pragma once
/// Does a program that was made to fit still compute the same?

#include "backend/backend.h"
#include "compile/compile.h"
#include "report/fit_report.h"

namespace lowtide::engine {

struct CheckOptions {
  size_t control = 0;       ///< falsify results after this decision, counted from 1: the check must notice
  bool only_small = false;  ///< a small instantiation, whether or not the program itself could be run
};

/// Runs the program as given and as fitted on seeded arguments, and compares all results. As given: by the definitions
/// of its operations where that is quick, otherwise compiled without streams. A program that fits no memory, or would
/// run for minutes, is compared as a small instantiation (passes/resize/resize.h), planned with the same decisions;
/// where some of them don't apply to it, they are tried once more on a small instantiation of the module as it is when
/// streams are decided on. A fault of kind kWrongValues names the first decision with which the results differ.
/// backend: of the target that was planned for.
Result<CheckedFit> check_fit(const Module& module, const Compiled& fitted, const Backend& backend,
                             const CheckOptions& options = {});

}  // namespace lowtide::engine
