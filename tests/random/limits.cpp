#include "limits.h"

#include <algorithm>
#include <random>

#include "backend/cpu/cpu_backend.h"
#include "compile/check_fit.h"
#include "compile/frontier.h"
#include "compile/interpreted_time.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "passes/resize/resize.h"
#include "support/run_compiled.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kFactors[] = {2, 4, 8, 16, 32, 64};
constexpr double kMostNs = 30e6;  ///< of the interpreter
constexpr int64_t kMostBytes = 4 << 20;
constexpr int64_t kPlans = 10;

int64_t largest_bytes(const Module& module) {
  int64_t largest = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) largest = std::max(largest, logical_bytes(i->shape));
  }
  return largest;
}

/// Some of the extents larger, by as much as can be run quickly. Factors are tried upwards: a constant of five
/// dimensions would have a thousand million times its elements at the largest. Not every factor suits a program, but
/// one does.
Result<std::unique_ptr<Module>> grown(const Module& module, std::mt19937_64& random) {
  const ModuleExtents extents(module);
  const uint64_t which = random();
  std::unique_ptr<Module> largest;
  Status refusal;
  for (const int64_t factor : kFactors) {
    const auto wish = [&](int32_t atom, int64_t extent) {
      return (which >> (static_cast<uint64_t>(atom) % 64)) % 2 == 0 ? extent : extent * factor;
    };
    Result<Resized> resized = resize(module, extents, wish);
    if (!resized.ok()) {
      refusal = resized.status();
      continue;
    }
    if (!largest) largest = module.clone();
    if (interpreted_ns(*resized->module) > kMostNs || largest_bytes(*resized->module) > kMostBytes) break;
    largest = std::move(resized->module);
  }
  if (!largest) return refusal;
  return largest;
}

Result<CheckedFit> check_at_some_limit(const Module& module, std::mt19937_64& random) {
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(module, cpu_target()));
  LT_ASSIGN_OR_RETURN(const Frontier frontier, find_frontier(planner, {.budget = kPlans}));
  const int64_t low = frontier.tightest().peak_bytes, high = std::max(low, frontier.points.front().peak_bytes);
  const int64_t limit = low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  const FrontierPoint* point = frontier.within(limit);
  if (point == nullptr) return Status(Fault::kInternal, "no plan is within a limit above the tightest");
  LT_ASSIGN_OR_RETURN(const Compiled compiled, compile_plan(module, cpu_target(), point->decisions, {.quiet = true}));
  if (compiled.program->peak_bytes() > limit) return Status(Fault::kInternal, "the peak is above the limit");
  return check_fit(module, compiled, cpu_backend(), {.only_small = random() % 4 == 0});
}

}  // namespace

std::string exact_fault(const Module& module) {
  std::mt19937_64 random(std::hash<std::string>()(print_hlo(module)));
  const auto large = grown(module, random);
  if (!large.ok()) return "it can't be made larger: " + large.status().message();
  (*large)->sums_in_order = true;
  const auto planner = Planner::make(**large, cpu_target());
  if (!planner.ok()) return planner.status().message();
  const auto frontier = find_frontier(*planner, {.budget = kPlans});
  const auto plain = planner->plan(without_streams());
  if (!frontier.ok() || !plain.ok()) return "no plan is found";
  const std::vector<Value> arguments = seeded_arguments(**large, 0);
  const CompiledRun expected = run_plan(*plain, arguments);
  if (!expected.unsupported.empty()) return "";
  for (const FrontierPoint& point : frontier->points) {
    const auto plan = print_plan(**large, point.decisions) + print_hlo(**large);
    const auto compiled = planner->plan(point.decisions);
    if (!compiled.ok()) return compiled.status().message() + " in\n" + plan;
    const CompiledRun run = run_plan(*compiled, arguments);
    if (!run.failure.empty()) return run.failure + " in\n" + plan;
    const Comparison comparison = compare_results(run.results, expected.results, {});
    if (!comparison.agrees()) return comparison.first + " in\n" + plan;
  }
  return "";
}

std::string limits_fault(const Module& module) {
  std::mt19937_64 random(std::hash<std::string>()(print_hlo(module)));
  const auto large = grown(module, random);
  if (!large.ok()) return "it can't be made larger: " + large.status().message();
  const auto checked = check_at_some_limit(**large, random);
  if (checked.ok() || checked.status().fault() == Fault::kUnsupported) return "";
  return checked.status().message() + " in\n" + print_hlo(**large);
}

}  // namespace lowtide::engine
