#include "compile/fit.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "analysis/partitioning.h"
#include "base/clock.h"
#include "compile/source_words.h"
#include "compile/what_to_change.h"
#include "passes/stream/stream.h"
#include "report/arguments.h"
#include "report/build.h"
#include "report/peak_rows.h"
#include "runtime/runnable.h"
#include "schedule/account_of.h"
#include "schedule/modelled_time.h"

namespace lowtide::engine {
namespace {

Sizes sizes_of(const Program& p) {
  return {p.argument_bytes, p.output_bytes, p.alias_bytes, p.temp_bytes, p.load_bytes, p.peak_bytes(), p.host_bytes};
}

constexpr int64_t kPackWork = 100'000;  ///< if only live ranges matter

/// The most steps of a timeline for which the module is measured before and after each pass.
constexpr size_t kMostSteps = 20'000;

std::vector<PeakRow> rows_at_peak(const Module& module, const Program& program) {
  const Graph given(module);
  const auto arguments = argument_rows(given, account_for(module, AccountMode::kAsGiven, kPackWork), Categories(given));
  const Graph graph(*program.module);
  return peak_rows(graph, account_of(program), Categories(graph), arguments);
}

/// How much each decision of the plan lowers the peak of the plan with only the decisions before it. The search has
/// tried most of these plans.
Result<std::vector<RewriteRow>> rewrites_of(const Module& module, const Planner& planner, const Frontier& frontier,
                                            const Decisions& decisions, const Account& given) {
  Stage stage(module.context().progress(), "making the report", 1 + static_cast<double>(decisions.size()));
  std::vector<RewriteRow> rows;
  const auto is_without = [](const Decision& d) { return std::holds_alternative<WithoutPass>(d); };
  /// The decisions before the k-th, and the passes that are left out.
  const auto first_of = [&](size_t k) {
    Decisions first(decisions.begin(), decisions.begin() + static_cast<std::ptrdiff_t>(k));
    std::copy_if(decisions.begin() + static_cast<std::ptrdiff_t>(k), decisions.end(), std::back_inserter(first),
                 is_without);
    return first;
  };
  LT_ASSIGN_OR_RETURN(Compiled before,
                      compile_plan(module, planner.target(), first_of(0),
                                   {.record_peaks = given.timeline.size() <= kMostSteps, .quiet = true}));
  int64_t peak = given.peak_bytes();
  for (const PassRecord& pass : before.passes) {
    if (!pass.result.changed) continue;
    const Pass* const row = find_pass(pass.name);
    rows.push_back({std::string(pass.name), "", row != nullptr ? numerics_of(*row, module) : Numerics::kExact,
                    pass.peak_before - pass.peak_after, pass.result.count});
    peak -= rows.back().bytes;
  }
  rows.push_back({"virtual values, in place, order, packing", "", Numerics::kExact, peak - before.program->peak_bytes(),
                  before.program->kernels});
  peak = before.program->peak_bytes();
  for (size_t k = 0; k < decisions.size(); ++k) {
    stage.add(1);
    const Decision& d = decisions[k];
    if (is_without(d)) continue;
    std::optional<int64_t> after = frontier.peak_of(first_of(k + 1));
    if (!after) {
      LT_ASSIGN_OR_RETURN(const Compiled made, planner.plan(first_of(k + 1)));
      after = made.program->peak_bytes();
    }
    const bool streams = std::holds_alternative<StreamDecision>(d);
    rows.push_back({streams ? "stream" : "plan", to_string(d), streams ? stream_numerics(module) : Numerics::kExact,
                    peak - *after, 1});
    peak = *after;
  }
  return rows;
}

/// May be interrupted, since no plan exists yet that could be returned.
Result<Planner> make_planner(const Module& module, const Target& target) {
  const Interruptible interruptible(module.context().stop());
  return Planner::make(module, target);
}

/// The parts of the report that need many more plans; left out if the search is cancelled.
Status explain_choice(const Module& module, const Planner& planner, const Frontier& frontier,
                      const Decisions& decisions, const Account& given, Fitted& fitted) {
  const Interruptible interruptible(module.context().stop());
  FitReport& report = fitted.report;
  auto rewrites = rewrites_of(module, planner, frontier, decisions, given);
  if (rewrites.ok()) report.rewrites = rewrites.take();
  if (auto words = source_words(planner, decisions); words.ok()) report.in_source = words.take();
  if (module.context().should_stop()) return {};
  LT_RETURN_IF_ERROR(rewrites.status());
  if (report.met) return {};
  auto changes = what_to_change(module, fitted.compiled);
  if (changes.ok()) report.changes = changes.take();
  return module.context().should_stop() ? Status() : changes.status();
}

}  // namespace

Result<Fitted> fit_program(const Input& input, const Target& target, std::optional<int64_t> limit,
                           const PlanChosen& chosen) {
  const auto start = std::chrono::steady_clock::now();
  const Module& module = *input.module;
  const std::vector<std::string> warnings = plan_for_one_device(*input.module);
  LT_ASSIGN_OR_RETURN(const Planner planner, make_planner(module, target));
  LT_ASSIGN_OR_RETURN(const Frontier frontier, find_frontier(planner));
  const FrontierPoint* point = limit ? frontier.within(*limit) : &frontier.tightest();
  Fitted fitted;
  FitReport& report = fitted.report;
  report.limit = limit;
  report.met = point != nullptr;
  if (!point) point = &frontier.tightest();
  if (chosen) LT_RETURN_IF_ERROR(chosen(point->decisions));
  LT_ASSIGN_OR_RETURN(fitted.compiled, compile_plan(module, target, point->decisions));
  const Program& program = *fitted.compiled.program;

  report.module = module.name;
  report.exact = module.sums_in_order;
  report.instructions = module.instruction_count();
  report.kernels = program.kernels;
  report.ours = sizes_of(program);
  const Account given = account_for(module, AccountMode::kAsGiven);
  report.before_partitioning = stated_parts(module).has_value();
  report.warnings = warnings;
  report.warnings.insert(report.warnings.end(), given.warnings.begin(), given.warnings.end());
  report.given_peak = given.peak_bytes();
  report.free_peak = frontier.free.peak_bytes;
  report.seconds = 1e-9 * modelled_ns(program, target.cost());
  report.free_seconds = 1e-9 * frontier.free.ns;
  report.machine = target.machine().name;
  report.machine_bytes = target.machine().spaces.front().bytes;
  report.floor_order = lower_bound_of(floor_order(module));
  report.floor_any = lower_bound_of(floor_any(module));
  for (const FrontierPoint& p : frontier.points) report.frontier.push_back({p.peak_bytes, 1e-9 * p.ns});
  report.plans = frontier.plans;
  report.at_peak = rows_at_peak(module, program);
  fitted.runnable = can_run(module, program, target);
  report.refusal = fitted.runnable.message();
  LT_RETURN_IF_ERROR(explain_choice(module, planner, frontier, point->decisions, given, fitted));
  report.interrupted = frontier.interrupted || module.context().stop().was_asked();
  report.plan_seconds = seconds_since(start);
  return fitted;
}

}  // namespace lowtide::engine
