#include "compile/planner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "analysis/account.h"
#include "base/debug.h"
#include "compile/frontier.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/rules/derive_saved_stacks.h"
#include "passes/rules/saved_stacks.h"
#include "passes/spoil.h"
#include "passes/stream/stream_slices.h"
#include "passes/windows/stream_windows.h"
#include "schedule/instruction_order.h"
#include "schedule/modelled_time.h"
#include "schedule/nest_cache.h"

namespace lowtide {
namespace {

constexpr int64_t kPackWork = 100'000;  ///< for one of many peaks
/// Of a plan's check: many more than most programs need, few beside planning.
constexpr int64_t kVisitsOfChecks = 10'000, kVisitsPerInstruction = 10;

const std::vector<Pass>& rows_for(Executor executor) {
  return executor == Executor::kXla ? pipeline_for_xla() : execution_pipeline();
}

/// The row at which plans part, and the one behind which their own streams stand.
size_t parting_row(Executor executor) {
  const std::string_view name = executor == Executor::kXla ? kDecidedStreams : kStreaming[0];
  const std::vector<Pass>& all = rows_for(executor);
  return static_cast<size_t>(std::ranges::find(all, name, &Pass::name) - all.begin());
}
size_t streaming_row(Executor executor) {
  const std::string_view name = executor == Executor::kXla ? kDecidedStreams : kStreaming.back();
  const std::vector<Pass>& all = rows_for(executor);
  return static_cast<size_t>(std::ranges::find(all, name, &Pass::name) - all.begin());
}

bool leaves_out(const Decisions& decisions, std::string_view pass) {
  return std::ranges::any_of(decisions, [&](const Decision& d) {
    const auto* without = std::get_if<WithoutPass>(&d);
    return without != nullptr && without->pass == pass;
  });
}

template <class Kind>
bool has(const Decisions& decisions) {
  return std::ranges::any_of(decisions, [](const Decision& d) { return std::holds_alternative<Kind>(d); });
}

Result<PassResult> derive_all_stacks(Module& module) {
  return derive_saved_stacks_for(module, std::numeric_limits<double>::infinity());
}

Pass stream_row(const StreamDecision& decision, Executor executor) {
  const StoredBy stored_by = executor == Executor::kXla ? StoredBy::kLoopFusion : StoredBy::kRegions;
  return {"stream", [&decision, stored_by](Module& m) { return stream(m, decision, stored_by); },
          Numerics::kReassociated, "decided for this module", Numerics::kExact};
}

/// What decides on the module in which all streams stand.
Decisions streaming_part(const Decisions& decisions) {
  Decisions part;
  for (const Decision& d : decisions) {
    const bool before = std::holds_alternative<StreamDecision>(d) || std::holds_alternative<WithoutPass>(d) ||
                        std::holds_alternative<DeriveStacks>(d);
    if (before) part.push_back(d);
  }
  return part;
}

/// From the parting row to those that make the decisions' streams. found: what rows that stream by themselves do.
std::vector<Pass> rows_to_streams(const Decisions& decisions, Executor executor, std::vector<StreamDecision>& found) {
  const std::vector<Pass>& all = rows_for(executor);
  std::vector<Pass> rows;
  if (has<DeriveStacks>(decisions)) {
    rows.push_back({"derive-stacks", derive_all_stacks, Numerics::kExact, "decided for this module"});
    rows.push_back({"remove-dead-code", remove_dead_code, Numerics::kExact, "what is no longer saved"});
  }
  for (size_t k = parting_row(executor); k <= streaming_row(executor); ++k) {
    if (leaves_out(decisions, all[k].name)) continue;
    rows.push_back(all[k]);
    if (all[k].name == kStreaming[0]) rows.back().run = [&found](Module& m) { return stream_windows(m, found); };
    if (all[k].name == kStreaming[1]) rows.back().run = [&found](Module& m) { return stream_slices(m, found); };
  }
  for (const Decision& decision : decisions) {
    if (const auto* stream = std::get_if<StreamDecision>(&decision)) rows.push_back(stream_row(*stream, executor));
    if (std::holds_alternative<Spoilt>(decision)) rows.push_back({"spoil", spoil, Numerics::kOptIn, "a control"});
  }
  return rows;
}

std::vector<Pass> rows_behind_streams(const Decisions& decisions, Executor executor) {
  const std::vector<Pass>& all = rows_for(executor);
  std::vector<Pass> rows(all.begin() + static_cast<std::ptrdiff_t>(streaming_row(executor)) + 1, all.end());
  std::erase_if(rows, [&](const Pass& row) { return leaves_out(decisions, row.name); });
  return rows;
}

/// Decisions that make the same plan, with these streams instead of rows that would find them.
Decisions spelt_with(const Decisions& decisions, const std::vector<StreamDecision>& found) {
  Decisions all;
  if (has<DeriveStacks>(decisions)) all.emplace_back(DeriveStacks{});
  for (const std::string_view row : kStreaming) all.emplace_back(WithoutPass{std::string(row)});
  for (const StreamDecision& stream : found) all.emplace_back(stream);
  for (const Decision& decision : decisions) {
    if (std::holds_alternative<DeriveStacks>(decision)) continue;
    const auto* without = std::get_if<WithoutPass>(&decision);
    if (without == nullptr || std::ranges::find(kStreaming, without->pass) == kStreaming.end()) all.push_back(decision);
  }
  return all;
}

/// What need not be searched for again.
Decisions replay_of(const Decisions& decisions, const std::vector<StreamDecision>& found, const Program& program) {
  Decisions all = spelt_with(decisions, found);
  std::erase_if(all, [](const Decision& d) {
    return std::holds_alternative<Packing>(d) || std::holds_alternative<TakeOrder>(d) ||
           std::holds_alternative<TakeOverlaps>(d);
  });
  for (const KnownPlacement& known : program.packings) all.emplace_back(Packing{known});
  for (const OrderChoice& choice : program.choices) all.emplace_back(TakeOrder{choice});
  for (const KnownOverlaps& known : program.overlaps) all.emplace_back(TakeOverlaps{known});
  return all;
}

ScheduleOptions schedule_options(const Decisions& decisions) {
  ScheduleOptions options;
  for (const Decision& decision : decisions) {
    if (const auto* price = std::get_if<PriceOfMemory>(&decision)) options.form.ns_per_stored_byte = price->ns_per_byte;
    if (std::holds_alternative<Rearrange>(decision)) options.rearrange = true;
    if (const auto* packing = std::get_if<Packing>(&decision)) options.packings.push_back(packing->known);
    if (const auto* overlaps = std::get_if<TakeOverlaps>(&decision)) options.overlaps.push_back(overlaps->known);
    if (const auto* search = std::get_if<SearchSteps>(&decision)) options.search_steps = search->steps;
  }
  return options;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The rows that every plan runs.
std::vector<Pass> shared_rows(Executor executor) {
  const std::vector<Pass>& all = rows_for(executor);
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(parting_row(executor))};
}

std::vector<Pass> whole_pipeline(const Decisions& decisions, Executor executor, std::vector<StreamDecision>& found) {
  std::vector<Pass> rows = shared_rows(executor);
  for (const auto& more : {rows_to_streams(decisions, executor, found), rows_behind_streams(decisions, executor)}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

/// What is read late is known once there is an order.
Status rematerialise_in_order(Compiled& compiled, Module& rewritten, const Program& program) {
  put_in_order(rewritten, program);
  const std::vector<Pass> rows = {*find_pass("rematerialise"), *find_pass("remove-dead-code")};
  LT_ASSIGN_OR_RETURN(const auto records, run_passes(rewritten, rows, {.quiet = true}));
  compiled.passes.insert(compiled.passes.end(), records.begin(), records.end());
  return {};
}

/// Empty where the program does what its module says.
std::string fault_of(const Program& program) {
  const int64_t visits =
      knobs().check ? INT64_MAX : kVisitsOfChecks + kVisitsPerInstruction * program.module->instruction_count();
  return check_program(program, visits);
}

/// Of the schedules on the way, one after the other.
std::optional<OrderChoice> choice_number(const Decisions& decisions, size_t number) {
  for (const Decision& decision : decisions) {
    const auto* order = std::get_if<TakeOrder>(&decision);
    if (order != nullptr && number-- == 0) return order->choice;
  }
  return {};
}

/// From the rewritten module to the program.
Status make_program(Compiled& compiled, const std::shared_ptr<Module>& rewritten, const Decisions& decisions,
                    const std::vector<StreamDecision>& found, const std::shared_ptr<KnownNests>& nests) {
  ScheduleOptions options = schedule_options(decisions);
  options.nests = nests;
  options.choice = choice_number(decisions, 0);
  Program before;
  if (has<Rematerialise>(decisions)) {
    before = schedule(rewritten, options);
    LT_RETURN_IF_ERROR(rematerialise_in_order(compiled, *rewritten, before));
    options.choice = choice_number(decisions, 1);
    options.overlaps = before.overlaps;
  }
  Program program = schedule(rewritten, options);
  program.packings.insert(program.packings.begin(), before.packings.begin(), before.packings.end());
  program.choices.insert(program.choices.begin(), before.choices.begin(), before.choices.end());
  compiled.replay = replay_of(decisions, found, program);
  compiled.program = std::make_shared<const Program>(std::move(program));
  compiled.decisions = decisions;
  compiled.nests = nests;
  return {};
}

double potential_of(int64_t temp_bytes, int64_t load_bytes, const std::vector<int64_t>& curve) {
  const double top = static_cast<double>(std::max<int64_t>(1, load_bytes));
  double sum = 0;
  for (const int64_t live : curve) sum += std::pow(static_cast<double>(live) / top, 16);
  return static_cast<double>(temp_bytes) + top * (std::pow(std::max(1.0, sum), 1.0 / 16) - 1);
}

}  // namespace

/// Of the streams made last, so that plans with one more, and plans that differ behind them, begin there.
class Planner::StreamedModules {
 public:
  struct Known {
    Decisions part;  ///< streaming_part() of those that made it
    std::shared_ptr<const Module> module;
    std::vector<PassRecord> records;
    std::vector<StreamDecision> found;
  };
  void add(Known known) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (known_.size() == kMostKept) known_.erase(known_.begin());
    known_.push_back(std::move(known));
  }
  /// Where all of these stand, or all but the last, which is a stream; no module: there is none.
  Known find(const Decisions& part) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Known& k : known_) {
      if (k.part == part) return k;
    }
    if (part.empty() || !std::holds_alternative<StreamDecision>(part.back())) return {};
    for (const Known& k : known_) {
      if (k.part.size() + 1 == part.size() && std::equal(k.part.begin(), k.part.end(), part.begin())) return k;
    }
    return {};
  }

 private:
  static constexpr size_t kMostKept = 2;
  mutable std::mutex mutex_;
  std::vector<Known> known_;
};

Planner::Planner() : nests_(std::make_shared<KnownNests>()), streamed_(std::make_shared<StreamedModules>()) {}

Result<Planner> Planner::make(const Module& module, Executor executor) {
  Planner planner;
  planner.executor_ = executor;
  std::shared_ptr<Module> shared = module.clone();
  LT_ASSIGN_OR_RETURN(planner.passes_, run_passes(*shared, shared_rows(executor), {.quiet = true}));
  planner.shared_ = std::move(shared);
  return planner;
}

Status Planner::check(Compiled& compiled) {
  std::string fault = fault_of(*compiled.program);
  if (fault.empty()) return {};
  if (!knobs().check) {
    ScheduleOptions options = schedule_options(compiled.decisions);
    options.apart = true;
    Program program = schedule(compiled.program->module, options);
    std::erase_if(compiled.replay, [](const Decision& d) { return std::holds_alternative<TakeOrder>(d); });
    program.refused = std::exchange(fault, fault_of(program));
    compiled.program = std::make_shared<const Program>(std::move(program));
  }
  if (!fault.empty()) return {Fault::kInternal, "the plan doesn't hold: " + fault};
  return {};
}

Result<Compiled> Planner::plan(const Decisions& decisions) const {
  LT_ASSIGN_OR_RETURN(Compiled compiled, plan_unchecked(decisions));
  const auto start = std::chrono::steady_clock::now();
  LT_RETURN_IF_ERROR(check(compiled));
  compiled.plan_seconds += seconds_since(start);
  return compiled;
}

Result<Compiled> Planner::plan_unchecked(const Decisions& decisions) const {
  const auto start = std::chrono::steady_clock::now();
  Compiled compiled;
  LT_ASSIGN_OR_RETURN(Rewritten rewritten, rewrite(decisions));
  compiled.passes = passes_;
  compiled.passes.insert(compiled.passes.end(), rewritten.records.begin(), rewritten.records.end());
  LT_RETURN_IF_ERROR(make_program(compiled, std::move(rewritten.module), decisions, rewritten.found, nests_));
  compiled.plan_seconds = seconds_since(start);
  return compiled;
}

Status Planner::Rewritten::run(const std::vector<Pass>& rows) {
  LT_ASSIGN_OR_RETURN(const auto more, run_passes(*module, rows, {.quiet = true}));
  records.insert(records.end(), more.begin(), more.end());
  return {};
}

Result<Planner::Rewritten> Planner::stream_all(const Decisions& decisions) const {
  const Decisions part = streaming_part(decisions);
  const StreamedModules::Known known = has<Spoilt>(decisions) ? StreamedModules::Known() : streamed_->find(part);
  if (!known.module) {
    Rewritten rewritten{shared_->clone(), {}, {}};
    LT_RETURN_IF_ERROR(rewritten.run(rows_to_streams(decisions, executor_, rewritten.found)));
    return rewritten;
  }
  Rewritten rewritten{known.module->clone(), known.records, known.found};
  if (known.part.size() < part.size())
    LT_RETURN_IF_ERROR(rewritten.run({stream_row(std::get<StreamDecision>(part.back()), executor_)}));
  return rewritten;
}

Result<Planner::Rewritten> Planner::rewrite(const Decisions& decisions) const {
  LT_ASSIGN_OR_RETURN(Rewritten rewritten, stream_all(decisions));
  LT_RETURN_IF_ERROR(rewritten.run(rows_behind_streams(decisions, executor_)));
  return rewritten;
}

Result<std::shared_ptr<const Module>> Planner::streamed(const Decisions& decisions) const {
  LT_ASSIGN_OR_RETURN(Rewritten rewritten, stream_all(decisions));
  std::shared_ptr<const Module> module = std::move(rewritten.module);
  streamed_->add({streaming_part(decisions), module, std::move(rewritten.records), std::move(rewritten.found)});
  return module;
}

Result<std::unique_ptr<Module>> Planner::exported(const Decisions& decisions) const {
  LT_ASSERT(executor_ == Executor::kXla, "other plans hold what only our runtime reads");
  LT_ASSIGN_OR_RETURN(Rewritten rewritten, rewrite(decisions));
  return std::move(rewritten.module);
}

Result<std::vector<PassRecord>> Planner::records(const Module& module, const Decisions& decisions,
                                                 const PassOptions& options) const {
  const auto copy = module.clone();
  std::vector<StreamDecision> found;
  return run_passes(*copy, whole_pipeline(decisions, executor_, found), options);
}

Result<double> Planner::modelled_here(const Decisions& decisions) const {
  LT_ASSIGN_OR_RETURN(Rewritten rewritten, stream_all(decisions));
  LT_RETURN_IF_ERROR(rewritten.run(rows_behind_streams({}, Executor::kLowtide)));
  return modelled_ns(schedule(std::shared_ptr<Module>(std::move(rewritten.module)), {.nests = nests_}));
}

Result<Measured> Planner::measure(const Decisions& decisions, Checked checked) const {
  if (executor_ == Executor::kLowtide) {
    LT_ASSIGN_OR_RETURN(Compiled compiled, plan_unchecked(decisions));
    if (checked == Checked::kYes || knobs().check) LT_RETURN_IF_ERROR(check(compiled));
    const Program& p = *compiled.program;
    return Measured{.peak_bytes = p.peak_bytes(),
                    .temp_bytes = p.temp_bytes,
                    .ns = modelled_ns(p),
                    .potential = potential_of(p.temp_bytes, p.load_bytes, p.live),
                    .at_peak = peak_values(p),
                    .could_rearrange = p.could_rearrange,
                    .compiled = std::move(compiled)};
  }
  LT_ASSIGN_OR_RETURN(const auto module, exported(decisions));
  const Account account = account_for(*module, AccountMode::kUnscheduled, kPackWork);
  LT_ASSIGN_OR_RETURN(const double ns, modelled_here(decisions));
  return Measured{.peak_bytes = account.peak_bytes(),
                  .temp_bytes = account.temp_bytes,
                  .ns = ns,
                  .potential = potential_of(account.temp_bytes, account.load_bytes, account.live),
                  .at_peak = peak_values(account)};
}

Result<Decisions> Planner::spelt(const Decisions& decisions) const {
  LT_ASSIGN_OR_RETURN(const Rewritten rewritten, stream_all(decisions));
  return spelt_with(decisions, rewritten.found);
}

Result<Compiled> Planner::plan_streamed(const std::shared_ptr<Module>& streamed, const Decisions& decisions) {
  Compiled compiled;
  const std::vector<Pass> rows = rows_behind_streams(decisions, Executor::kLowtide);
  LT_ASSIGN_OR_RETURN(compiled.passes, run_passes(*streamed, rows, {.quiet = true}));
  LT_RETURN_IF_ERROR(make_program(compiled, streamed, decisions, {}, std::make_shared<KnownNests>()));
  LT_RETURN_IF_ERROR(check(compiled));
  return compiled;
}

bool Planner::could_derive() const {
  if (!could_derive_) {
    const std::unique_ptr<Module> trial = shared_->clone();
    const auto derived = derive_all_stacks(*trial);
    could_derive_ = derived.ok() && derived->changed;
  }
  return *could_derive_;
}

Status Planner::derive_stacks(Module& module) {
  LT_RETURN_IF_ERROR(derive_all_stacks(module).status());
  return remove_dead_code(module).status();
}

Planner Planner::of_shared(std::shared_ptr<const Module> shared) {
  Planner planner;
  planner.shared_ = std::move(shared);
  return planner;
}

Result<Compiled> compile_plan(const Module& module) {
  const auto start = std::chrono::steady_clock::now();
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(module));
  LT_ASSIGN_OR_RETURN(Frontier frontier, find_frontier(planner, {.only_free = true}));
  Compiled compiled = std::move(frontier.free_plan);
  // Debug output, where asked for, is that of the plan chosen.
  if (is_debugging()) {
    LT_ASSIGN_OR_RETURN(compiled, compile_plan(module, frontier.free.decisions));
  }
  compiled.plan_seconds = seconds_since(start);
  return compiled;
}

Result<Compiled> compile_plan(const Module& module, const Decisions& decisions, const PassOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Compiled compiled;
  std::shared_ptr<Module> rewritten = module.clone();
  std::vector<StreamDecision> found;
  const std::vector<Pass> rows = whole_pipeline(decisions, Executor::kLowtide, found);
  LT_ASSIGN_OR_RETURN(compiled.passes, run_passes(*rewritten, rows, options));
  LT_RETURN_IF_ERROR(make_program(compiled, rewritten, decisions, found, std::make_shared<KnownNests>()));
  LT_RETURN_IF_ERROR(Planner::check(compiled));
  compiled.plan_seconds = seconds_since(start);
  return compiled;
}

}  // namespace lowtide
