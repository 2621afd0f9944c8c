#include "compile/planner.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/debug.h"
#include "compile/frontier.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/rules/derive_saved_stacks.h"
#include "passes/rules/saved_stacks.h"

namespace lowtide {
namespace {

/// The row at which plans part.
size_t parting_row(const std::vector<Pass>& passes) {
  return static_cast<size_t>(std::ranges::find(passes, kStreaming[0], &Pass::name) - passes.begin());
}

bool leaves_out(const Decisions& decisions, std::string_view pass) {
  return std::ranges::any_of(decisions, [&](const Decision& d) {
    const auto* without = std::get_if<WithoutPass>(&d);
    return without != nullptr && without->pass == pass;
  });
}

bool derives_stacks(const Decisions& decisions) {
  return std::ranges::any_of(decisions, [](const Decision& d) { return std::holds_alternative<DeriveStacks>(d); });
}

Result<PassResult> derive_all_stacks(Module& module) {
  return derive_saved_stacks_for(module, std::numeric_limits<double>::infinity());
}

/// The rows from the parting one on, with the decisions' streams; `until_streamed`: no further than these.
std::vector<Pass> rows_of(const Decisions& decisions, bool until_streamed) {
  const std::vector<Pass>& all = execution_pipeline();
  std::vector<Pass> rows;
  if (derives_stacks(decisions)) {
    rows.push_back({"derive-stacks", derive_all_stacks, Numerics::kExact, "decided for this module"});
    rows.push_back({"remove-dead-code", remove_dead_code, Numerics::kExact, "what is no longer saved"});
  }
  for (size_t k = parting_row(all); k < all.size(); ++k) {
    if (!leaves_out(decisions, all[k].name)) rows.push_back(all[k]);
    if (all[k].name != kStreaming.back()) continue;
    for (const Decision& decision : decisions) {
      if (const auto* found = std::get_if<StreamDecision>(&decision)) {
        rows.push_back({"stream", [found](Module& m) { return stream(m, *found); }, Numerics::kReassociated,
                        "decided for this module"});
      }
    }
    if (until_streamed) break;
  }
  return rows;
}

ScheduleOptions schedule_options(const Decisions& decisions) {
  ScheduleOptions options;
  for (const Decision& decision : decisions) {
    if (const auto* price = std::get_if<PriceOfMemory>(&decision)) options.form.ns_per_stored_byte = price->ns_per_byte;
    if (std::holds_alternative<Rearrange>(decision)) options.rearrange = true;
    if (const auto* search = std::get_if<SearchSteps>(&decision)) options.search_steps = search->steps;
  }
  return options;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Status check(const Compiled& compiled) {
  if (!knobs().check) return {};
  const std::string fault = check_program(*compiled.program);
  return fault.empty() ? Status() : Status(Fault::kInternal, "the plan doesn't hold: " + fault);
}

}  // namespace

Result<Planner> Planner::make(const Module& module) {
  Planner planner;
  std::shared_ptr<Module> shared = module.clone();
  const std::vector<Pass>& all = execution_pipeline();
  const std::vector<Pass> first(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(parting_row(all)));
  LT_ASSIGN_OR_RETURN(planner.passes_, run_passes(*shared, first, {.quiet = true}));
  if (!free_loops(*shared).empty()) {
    const std::unique_ptr<Module> trial = shared->clone();
    LT_ASSIGN_OR_RETURN(const PassResult derived, derive_all_stacks(*trial));
    planner.could_derive_ = derived.changed;
  }
  planner.shared_ = std::move(shared);
  return planner;
}

Result<Compiled> Planner::plan(const Decisions& decisions, const PassOptions& options) const {
  const auto start = std::chrono::steady_clock::now();
  Compiled compiled;
  std::shared_ptr<Module> rewritten = shared_->clone();
  LT_ASSIGN_OR_RETURN(compiled.passes, run_passes(*rewritten, rows_of(decisions, false), options));
  compiled.passes.insert(compiled.passes.begin(), passes_.begin(), passes_.end());
  compiled.program = std::make_shared<const Program>(schedule(rewritten, schedule_options(decisions)));
  compiled.decisions = decisions;
  LT_RETURN_IF_ERROR(check(compiled));
  compiled.plan_seconds = seconds_since(start);
  return compiled;
}

Result<std::unique_ptr<Module>> Planner::streamed(const Decisions& decisions) const {
  auto module = shared_->clone();
  const auto records = run_passes(*module, rows_of(decisions, true), {.quiet = true});
  if (!records.ok()) return records.status();
  return module;
}

Result<Compiled> compile_plan(const Module& module) {
  const auto start = std::chrono::steady_clock::now();
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(module));
  LT_ASSIGN_OR_RETURN(Frontier frontier, find_frontier(planner, {.only_free = true}));
  Compiled compiled = std::move(frontier.free_plan);
  // Debug output, where asked for, is that of the plan chosen.
  if (knobs().debug > 0 || !knobs().dump_directory.empty()) {
    LT_ASSIGN_OR_RETURN(compiled, compile_plan(module, frontier.free.decisions));
  }
  compiled.plan_seconds = seconds_since(start);
  return compiled;
}

Result<Compiled> compile_plan(const Module& module, const Decisions& decisions, const PassOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Compiled compiled;
  std::shared_ptr<Module> rewritten = module.clone();
  const std::vector<Pass>& all = execution_pipeline();
  std::vector<Pass> rows(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(parting_row(all)));
  const std::vector<Pass> rest = rows_of(decisions, false);
  rows.insert(rows.end(), rest.begin(), rest.end());
  LT_ASSIGN_OR_RETURN(compiled.passes, run_passes(*rewritten, rows, options));
  compiled.program = std::make_shared<const Program>(schedule(rewritten, schedule_options(decisions)));
  compiled.decisions = decisions;
  LT_RETURN_IF_ERROR(check(compiled));
  compiled.plan_seconds = seconds_since(start);
  return compiled;
}

}  // namespace lowtide
