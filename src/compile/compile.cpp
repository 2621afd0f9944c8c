#include "compile/compile.h"

#include <chrono>

#include "base/clock.h"
#include "compile/frontier.h"
#include "compile/make_program.h"
#include "schedule/nest_cache.h"

namespace lowtide::engine {

Result<Compiled> compile_plan(const Module& module, const Target& target) {
  const auto start = std::chrono::steady_clock::now();
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(module, target));
  LT_ASSIGN_OR_RETURN(Frontier frontier, find_frontier(planner, {.only_free = true}));
  Compiled compiled = std::move(frontier.free_plan);
  // When debugging, the chosen plan is made again, so that the output shows it.
  if (module.context().is_debugging()) {
    LT_ASSIGN_OR_RETURN(compiled, compile_plan(module, target, frontier.free.decisions));
  }
  compiled.plan_seconds = seconds_since(start);
  return compiled;
}

Result<Compiled> compile_plan(const Module& module, const Target& target, const Decisions& decisions,
                              const PassOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Compiled compiled;
  compiled.target = &target;
  std::shared_ptr<Module> rewritten = module.clone();
  std::vector<StreamDecision> found;
  const std::vector<Pass> rows = whole_pipeline(decisions, target, found);
  LT_ASSIGN_OR_RETURN(compiled.passes, run_passes(*rewritten, rows, target, options));
  make_program(compiled, rewritten, decisions, found, std::make_shared<KnownNests>());
  LT_RETURN_IF_ERROR(check_plan(compiled));
  compiled.plan_seconds = seconds_since(start);
  return compiled;
}

}  // namespace lowtide::engine
