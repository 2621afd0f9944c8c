#include "compile/explain.h"

#include <fmt/format.h>

#include <chrono>

#include "analysis/partitioning.h"
#include "base/clock.h"
#include "compile/planned_cures.h"
#include "report/build.h"
#include "runtime/runnable.h"
#include "schedule/account_of.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kKiB = int64_t{1} << 10, kMiB = int64_t{1} << 20;

/// A limit that `fit` meets: it tries at least the same plans, and drops one only for a faster plan that is less than a
/// tenth larger.
std::string limit_to_try(const Frontier& frontier) {
  const int64_t tightest = frontier.tightest().peak_bytes;
  const int64_t surely = tightest + tightest / 8;
  const int64_t unit = surely < 100 * kMiB ? kKiB : kMiB;
  const int64_t units = (surely + unit - 1) / unit;
  if (units * unit >= frontier.free.peak_bytes) return "";
  return fmt::format(" --limit {}{}", units, unit == kKiB ? "KiB" : "MiB");
}

}  // namespace

Result<Report> explain(const Input& input, const Target& target, bool with_boxes) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::string> warnings = plan_for_one_device(*input.module);
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(*input.module, target));
  LT_ASSIGN_OR_RETURN(const Frontier frontier, find_frontier(planner, {.only_free = true}));
  const Program& program = *frontier.free_plan.program;
  if (input.module->context().is_debugging()) {
    LT_RETURN_IF_ERROR(compile_plan(*input.module, target, frontier.free.decisions).status());
  }
  const double seconds = seconds_since(start);
  const FreePlan plan{program.module, account_of(program), program.kernels, seconds};
  Report report = build_report(input, plan, with_boxes);
  report.exact = input.module->sums_in_order;
  report.warnings.insert(report.warnings.begin(), warnings.begin(), warnings.end());
  report.refusal = can_run(*input.module, program, target).message();
  if (!report.refusal.empty()) {
    report.warnings.push_back("this plan can't be run here: " + report.refusal.substr(0, report.refusal.find('\n')));
  }
  LT_RETURN_IF_ERROR(plan_cures(*input.module, planner, frontier, report));
  report.next.insert(report.next.begin(), fmt::format("lowtide fit {}{}{}", shell_word(input.path),
                                                      limit_to_try(frontier), report.exact ? " --exact" : ""));
  return report;
}

}  // namespace lowtide::engine
