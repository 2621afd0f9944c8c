#pragma once
/// Makes a program fit: chooses the plan for a limit, and reports what that took.

#include <functional>
#include <optional>

#include "compile/frontier.h"
#include "report/fit_report.h"
#include "text/input.h"

namespace lowtide::engine {

struct Fitted {
  Compiled compiled;  ///< within the limit, or the tightest found
  Status runnable;    ///< can_run() of it
  FitReport report;
};

/// Receives the chosen plan before anything else is made from it.
using PlanChosen = std::function<Status(const Decisions&)>;

/// Without a limit: the tightest. If it is cancelled (Context::stop): the best found until then, or the error
/// interrupted().
Result<Fitted> fit_program(const Input& input, const Target& target, std::optional<int64_t> limit,
                           const PlanChosen& chosen = {});

}  // namespace lowtide::engine
