#pragma once
/// A program made to fit: the plan chosen for a limit, and the report of what that took.

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

/// Told of the plan that was chosen, before anything else is made of it.
using PlanChosen = std::function<Status(const Decisions&)>;

/// Without a limit: the tightest. Where it is asked to stop (Context::stop): the best of what was found until then,
/// or the fault interrupted().
Result<Fitted> fit_program(const Input& input, const Target& target, std::optional<int64_t> limit,
                           const PlanChosen& chosen = {});

}  // namespace lowtide::engine
