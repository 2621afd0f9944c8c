#include "compile/check_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/memory.h"
#include "base/sizes.h"
#include "compile/check_small.h"
#include "compile/compare_plans.h"
#include "compile/interpreted_time.h"
#include "ops/host_call.h"
#include "passes/spoil.h"
#include "schedule/modelled_time.h"

namespace lowtide::engine {
namespace {

constexpr double kUsualRuns = 4;    ///< three as given, one as fitted
constexpr double kLongestNs = 8e9;  ///< modelled, of both programs together

/// Why the program itself can't be run; empty if it can.
std::string hindrance(const Program& plain, const Program& fitted, const Cost& cost) {
  const AvailableMemory available = available_memory();
  // Arguments and results exist as values and as each program's own.
  const int64_t needed = plain.temp_bytes + 3 * (plain.argument_bytes + plain.output_bytes);
  if (needed > available.bytes) {
    return fmt::format("the program as given needs {}, {} has {} left", format_bytes(needed), available.bound_by,
                       format_bytes(available.bytes));
  }
  const double ns = modelled_ns(plain, cost) + modelled_ns(fitted, cost);
  return ns > kLongestNs ? fmt::format("both runs would take some {:.0f} s", 1e-9 * ns) : "";
}

/// The first `count` decisions, not counting those that leave out passes.
Decisions first_decisions(const Decisions& decisions, size_t count) {
  Decisions taken;
  size_t number = 0;
  for (const Decision& d : decisions) {
    const bool counts = !std::holds_alternative<WithoutPass>(d);
    if (counts && ++number > count) continue;
    taken.push_back(d);
  }
  return taken;
}

/// The plan of the first `count` decisions; its results are falsified if `control` isn't 0 and at most `count`.
Result<Compiled> plan_first(const Planner& planner, const Decisions& decisions, size_t count, size_t control) {
  const Decisions first = first_decisions(decisions, count);
  if (control == 0 || count < control) return planner.plan(first);
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<const Module> streamed, planner.streamed(first));
  const std::shared_ptr<Module> spoilt = streamed->clone();
  LT_RETURN_IF_ERROR(spoil(*spoilt).status());
  return Planner::plan_streamed(spoilt, planner.target(), first);
}

Result<CheckedFit> check_whole(const Module& module, const Planner& planner, const Backend& backend,
                               const Compiled& fitted, const Decisions& decisions, CheckedFit checked, size_t control) {
  const bool quick = interpreted_ns(module) <= kQuickNs;
  LT_ASSIGN_OR_RETURN(const PlanComparison comparison, PlanComparison::make(module, planner, backend, quick));
  const size_t count = checked.rows.size();
  const auto plan = [&](size_t k) { return plan_first(planner, decisions, k, control); };
  Compiled checked_plan = fitted;
  if (control > 0) {
    LT_ASSIGN_OR_RETURN(checked_plan, plan(count));
  }
  LT_ASSIGN_OR_RETURN(const std::string wrong, comparison.difference(checked_plan));
  if (!wrong.empty()) {
    LT_ASSIGN_OR_RETURN(const auto first, comparison.first_wrong(count, plan));
    return Status(Fault::kWrongValues, fmt::format("with {}: {}", culprit(checked, first), wrong));
  }
  checked.found = comparison.agreement();
  if (comparison.vague() == comparison.results()) return checked;
  checked.how = CheckedFit::How::kWhole;
  for (CheckedFit::Row& row : checked.rows) row.exercised = true;
  return checked;
}

}  // namespace

std::string culprit(const CheckedFit& checked, const std::optional<size_t>& first) {
  if (!first) return "what differs from run to run";
  if (*first == 0) return "the pipeline's own rewrites";
  const CheckedFit::Row& row = checked.rows[*first - 1];
  return "`" + row.decision + "`" + (row.as.empty() || row.as == row.decision ? "" : ", here `" + row.as + "`");
}

Result<CheckedFit> check_fit(const Module& module, const Compiled& fitted, const Backend& backend,
                             const CheckOptions& options) {
  LT_RETURN_IF_ERROR(refuse_to_repeat(module));
  const Stage stage(module.context().progress(), "checking", kUsualRuns);
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(module, *fitted.target));
  LT_ASSIGN_OR_RETURN(const Decisions decisions, planner.spelt(fitted.decisions));
  CheckedFit checked;
  for (const Decision& d : decisions) {
    if (!std::holds_alternative<WithoutPass>(d)) checked.rows.push_back({to_string(d), "", false});
  }
  if (options.control > checked.rows.size()) {
    return Status::input(
        fmt::format("no decision number {} to be spoilt: the plan has {}", options.control, checked.rows.size()));
  }
  checked.found = "a small instantiation alone was asked for";
  if (!options.only_small) {
    LT_ASSIGN_OR_RETURN(const Compiled plain, planner.plan(without_streams()));
    checked.found = hindrance(*plain.program, *fitted.program, fitted.target->cost());
    if (checked.found.empty())
      return check_whole(module, planner, backend, fitted, decisions, checked, options.control);
  }
  const SmallCheck small{module, planner, backend, decisions, options.control};
  LT_RETURN_IF_ERROR(small.check(module, false, checked));
  if (checked.exercised() < static_cast<int64_t>(checked.rows.size())) {
    LT_RETURN_IF_ERROR(small.check(planner.shared(), true, checked));
  }
  return checked;
}

}  // namespace lowtide::engine
