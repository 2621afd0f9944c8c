#pragma once
/// A program made to fit: the plan chosen for a limit, and the report of what that took.

#include <optional>

#include "compile/frontier.h"
#include "report/fit_report.h"
#include "text/input.h"

namespace lowtide {

struct Fitted {
  Compiled compiled;  ///< within the limit, or the tightest found
  FitReport report;
};

/// Without a limit: the tightest.
Result<Fitted> fit_program(const Input& input, std::optional<int64_t> limit, const FrontierOptions& options = {});

}  // namespace lowtide
