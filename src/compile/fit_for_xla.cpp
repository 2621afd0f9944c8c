#include "compile/fit_for_xla.h"

#include <chrono>

#include "analysis/partitioning.h"
#include "base/clock.h"
#include "compile/what_to_change.h"
#include "passes/stream/stream.h"
#include "report/arguments.h"
#include "report/build.h"
#include "report/peak_rows.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostMeasured = 20'000;  ///< steps of a timeline for which each pass is measured
constexpr int64_t kOnlyRules = 1;         ///< plans
constexpr double kMostTime = 1.5;         ///< without a limit: times the free plan's, and that without streams

/// How much each pass lowers the peak that the passes before it left.
Result<std::vector<RewriteRow>> rewrites_of(const Module& module, const Planner& planner, const Decisions& decisions,
                                            const Account& given, int64_t peak) {
  std::vector<RewriteRow> rows;
  LT_ASSIGN_OR_RETURN(
      const auto records,
      planner.records(module, decisions, {.record_peaks = given.timeline.size() <= kMostMeasured, .quiet = true}));
  int64_t left = given.peak_bytes();
  std::vector<std::string> streams;
  for (const Decision& d : decisions) {
    if (std::holds_alternative<StreamDecision>(d)) streams.push_back(to_string(d));
  }
  size_t next = 0;
  for (const PassRecord& pass : records) {
    std::string what;
    if (pass.name == "stream") what = streams[next++];
    if (!pass.result.changed) continue;
    const Pass* const row = find_pass(pass.name);
    rows.push_back({std::string(pass.name), what, row != nullptr ? numerics_of(*row, module) : stream_numerics(module),
                    pass.peak_before - pass.peak_after, what.empty() ? pass.result.count : 1});
    left -= rows.back().bytes;
  }
  if (left != peak) rows.push_back({"order, packing", "", Numerics::kExact, left - peak, 1});
  return rows;
}

/// The parts of the report that are left out if the search is cancelled.
Status explain_choice(const Module& module, const Planner& planner, const Decisions& decisions, const Account& given,
                      FitReport& report) {
  const Interruptible interruptible(module.context().stop());
  auto rewrites = rewrites_of(module, planner, decisions, given, report.ours.peak);
  if (rewrites.ok()) report.rewrites = rewrites.take();
  if (module.context().should_stop()) return {};
  LT_RETURN_IF_ERROR(rewrites.status());
  if (report.met) return {};
  auto changes = sums_in_any_order(module, planner.target(), report.ours.peak);
  if (changes.ok()) report.changes = changes.take();
  return module.context().should_stop() ? Status() : changes.status();
}

/// The lowest plan. XLA:CPU takes up to twice as long as modelled: there plans that save little for their time don't
/// count.
const FrontierPoint& chosen_without_limit(const Frontier& frontier, const Target& target) {
  return target.xla_backend() == XlaBackend::kCpu ? frontier.balanced_within_time(kMostTime)
                                                  : frontier.within_time(kMostTime);
}

}  // namespace

Result<FittedForXla> fit_for_xla(const Input& input, const Target& target, std::optional<int64_t> limit) {
  const auto start = std::chrono::steady_clock::now();
  const Module& module = *input.module;
  if (module.is_scheduled) {
    return Status::unsupported(
        "--for xla: XLA has compiled this module already (is_scheduled=true) and compiles none twice; expected the one "
        "before its passes, as lowered.as_text(\"hlo\") prints it or a dump has in *before_optimizations*");
  }
  // Without partitions in the module's header, XLA runs the whole program on one device, even if it has a mesh.
  const bool meshes = module.frontend_attributes.find("xla.sdy.meshes") != std::string::npos;
  if (meshes && !module.num_partitions) input.module->num_partitions = 1;
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(module, target));
  FrontierOptions search;
  if (!limit) search.most_time = kMostTime;
  const bool undivided = has_global_shapes(module);
  if (undivided) search.budget = kOnlyRules;
  LT_ASSIGN_OR_RETURN(const Frontier frontier, find_frontier(planner, search));
  const FrontierPoint* point = limit ? frontier.within(*limit) : &chosen_without_limit(frontier, target);
  FittedForXla fitted;
  FitReport& report = fitted.report;
  report.for_xla = true;
  report.note =
      "sizes are Lowtide's model of XLA's account (depth-first order, plain loop fusion); XLA orders, fuses and packs "
      "by "
      "itself and may need more or less";
  if (undivided) report.note += "; a program that is still to be divided over devices isn't streamed";
  report.limit = limit;
  report.most_time = limit ? 0 : kMostTime;
  report.met = point != nullptr;
  if (!point) point = &frontier.tightest();
  LT_ASSIGN_OR_RETURN(fitted.module, planner.exported(point->decisions));
  const Account given = account_for(module, AccountMode::kAsGiven, kAccountWork, target.xla_backend());
  Account ours = planner.account_of(*fitted.module, point->decisions);
  const bool stays =
      static_cast<double>(ours.peak_bytes()) > (1 + target.uncertain_part()) * static_cast<double>(given.peak_bytes());
  if (stays) {
    fitted.module = module.clone();
    ours = given;
    report.met = !limit || ours.peak_bytes() <= *limit;
    report.note += "; the program stays as it is, since none of the plans found needs less";
  }

  report.module = module.name;
  report.exact = module.sums_in_order;
  report.instructions = module.instruction_count();
  report.ours = sizes_of(ours);
  report.given_peak = given.peak_bytes();
  report.free_peak = frontier.free.peak_bytes;
  report.seconds = 1e-9 * (stays ? frontier.free : *point).ns;
  report.free_seconds = 1e-9 * frontier.free.ns;
  report.machine = target.machine().name;
  report.machine_bytes = target.machine().spaces.front().bytes;
  report.floor_order = lower_bound_of(floor_order(module));
  report.floor_any = lower_bound_of(floor_any(module));
  for (const FrontierPoint& p : frontier.points) report.frontier.push_back({p.peak_bytes, 1e-9 * p.ns});
  report.plans = frontier.plans;
  const Graph graph(module), exported(*fitted.module);
  const auto arguments = argument_rows(graph, given, Categories(graph));
  report.at_peak = peak_rows(exported, ours, Categories(exported), arguments);
  if (!stays) LT_RETURN_IF_ERROR(explain_choice(module, planner, point->decisions, given, report));
  report.interrupted = frontier.interrupted || module.context().stop().was_asked();
  report.plan_seconds = seconds_since(start);
  return fitted;
}

}  // namespace lowtide::engine
