#include "compile/planner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <utility>

#include "analysis/account.h"
#include "base/clock.h"
#include "compile/make_program.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/recompute/offload.h"
#include "passes/recompute/save_every.h"
#include "passes/rules/hoist_loop_invariants.h"
#include "passes/rules/update_where_it_is_made.h"
#include "schedule/modelled_time.h"
#include "schedule/nest_cache.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kLittlePackWork = 100'000;   ///< to pack the account of one of many plans
constexpr int64_t kKeptInstructions = 60'000;  ///< in cached modules that later plans extend,
constexpr size_t kLeastKept = 6;               ///< but at least so many modules

double potential_of(int64_t temp_bytes, int64_t load_bytes, const std::vector<int64_t>& curve) {
  const double top = static_cast<double>(std::max<int64_t>(1, load_bytes));
  double sum = 0;
  for (const int64_t live : curve) sum += std::pow(static_cast<double>(live) / top, 16);
  return static_cast<double>(temp_bytes) + top * (std::pow(std::max(1.0, sum), 1.0 / 16) - 1);
}

bool has_loops(const Module& module) {
  return std::ranges::any_of(module.computations(), [](const auto& computation) {
    return std::ranges::any_of(computation->instructions(), [](const auto& i) { return i->opcode == Opcode::kWhile; });
  });
}

/// The decisions without the streams at their end and the recomputation among these.
Decisions without_last_streams(Decisions part) {
  const size_t first = first_stream(part);
  while (part.size() > first && !rows_among_streams(part.back()).empty()) part.pop_back();
  return part;
}

}  // namespace

/// A cache of the latest modules with streams: plans with one more stream or other later decisions start from them.
class Planner::StreamedModules {
 public:
  struct Known {
    Decisions part;  ///< streaming_part() of the decisions that made it
    std::shared_ptr<const Module> module;
    std::vector<PassRecord> records;
    std::vector<StreamDecision> found;
  };
  /// most: instructions in all cached modules together.
  explicit StreamedModules(int64_t most) : most_(most) {}

  void add(Known known) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(known_, [&](const Known& k) { return k.part == known.part; });
    const auto kept = static_cast<size_t>(most_ / std::max<int64_t>(1, known.module->instruction_count()));
    while (known_.size() >= std::max(kLeastKept, kept)) known_.erase(known_.begin());
    known_.push_back(std::move(known));
  }
  /// The module with most of these streams, if only streams are missing; null if none. The one found is kept longest.
  Known find(const Decisions& part) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto best = known_.end();
    for (auto k = known_.begin(); k != known_.end(); ++k) {
      const size_t size = k->part.size();
      if (size < without_last_streams(part).size() || size > part.size()) continue;
      if (!std::equal(k->part.begin(), k->part.end(), part.begin())) continue;
      if (best == known_.end() || size > best->part.size()) best = k;
    }
    if (best == known_.end()) return {};
    std::rotate(best, best + 1, known_.end());
    return known_.back();
  }

 private:
  const int64_t most_;
  std::mutex mutex_;
  std::vector<Known> known_;
};

Planner::Planner(const Target& target)
    : target_(&target),
      nests_(std::make_shared<KnownNests>()),
      streamed_(std::make_shared<StreamedModules>(kKeptInstructions)) {}

Result<Planner> Planner::make(const Module& module, const Target& target) {
  Planner planner(target);
  std::shared_ptr<Module> shared = module.clone();
  LT_ASSIGN_OR_RETURN(planner.passes_, run_passes(*shared, shared_rows(target), target, {.quiet = true}));
  planner.shared_ = std::move(shared);
  return planner;
}

Result<Compiled> Planner::plan(const Decisions& decisions) const {
  LT_ASSIGN_OR_RETURN(Compiled compiled, plan_unchecked(decisions));
  const auto start = std::chrono::steady_clock::now();
  LT_RETURN_IF_ERROR(check_plan(compiled));
  compiled.plan_seconds += seconds_since(start);
  return compiled;
}

Result<Compiled> Planner::plan_unchecked(const Decisions& decisions) const {
  const auto start = std::chrono::steady_clock::now();
  Compiled compiled;
  compiled.target = target_;
  LT_ASSIGN_OR_RETURN(Rewritten rewritten, rewrite(decisions));
  if (context().should_stop()) return interrupted();
  compiled.passes = passes_;
  compiled.passes.insert(compiled.passes.end(), rewritten.records.begin(), rewritten.records.end());
  make_program(compiled, std::move(rewritten.module), decisions, rewritten.found, nests_);
  compiled.plan_seconds = seconds_since(start);
  return compiled;
}

Status Planner::Rewritten::run(const std::vector<Pass>& rows, const Target& target) {
  LT_ASSIGN_OR_RETURN(const auto more, run_passes(*module, rows, target, {.quiet = true, .trusted = true}));
  records.insert(records.end(), more.begin(), more.end());
  return {};
}

Result<Planner::Rewritten> Planner::stream_all(const Decisions& decisions) const {
  const Decisions part = streaming_part(decisions);
  StreamedModules::Known known = streamed_->find(part);
  Rewritten rewritten;
  if (known.module) {
    rewritten = {known.module->clone(), std::move(known.records), std::move(known.found)};
  } else {
    known.part = without_last_streams(part);
    rewritten.module = shared_->clone();
    LT_RETURN_IF_ERROR(rewritten.run(rows_to_streams(known.part, *target_, rewritten.found), *target_));
    if (known.part.size() < part.size()) {
      streamed_->add({known.part, rewritten.module->clone(), rewritten.records, rewritten.found});
    }
  }
  for (size_t k = known.part.size(); k < part.size(); ++k) {
    LT_RETURN_IF_ERROR(rewritten.run(rows_among_streams(part[k]), *target_));
  }
  return rewritten;
}

Result<Planner::Rewritten> Planner::rewrite(const Decisions& decisions) const {
  LT_ASSIGN_OR_RETURN(Rewritten rewritten, stream_all(decisions));
  LT_RETURN_IF_ERROR(rewritten.run(rows_behind_streams(decisions, *target_), *target_));
  return rewritten;
}

Result<std::shared_ptr<const Module>> Planner::streamed(const Decisions& decisions) const {
  const Decisions part = streaming_part(decisions);
  if (const StreamedModules::Known known = streamed_->find(part); known.module && known.part == part)
    return known.module;
  LT_ASSIGN_OR_RETURN(Rewritten rewritten, stream_all(decisions));
  std::shared_ptr<const Module> module = std::move(rewritten.module);
  streamed_->add({part, module, std::move(rewritten.records), std::move(rewritten.found)});
  return module;
}

Result<std::unique_ptr<Module>> Planner::exported(const Decisions& decisions) const {
  LT_ASSERT(target_->takes() == Takes::kModule, "other plans hold what only our runtime reads");
  LT_ASSIGN_OR_RETURN(Rewritten rewritten, rewrite(decisions));
  return std::move(rewritten.module);
}

Account Planner::account_of(const Module& exported, const Decisions& decisions, int64_t pack_work) const {
  const std::optional<XlaBackend> backend = target_->xla_backend();
  Account account = account_for(exported, AccountMode::kUnscheduled, pack_work, backend);
  if (!has<Recompute>(decisions)) return account;
  Account in_order = account_for(exported, AccountMode::kInOrder, pack_work, backend);
  return in_order.peak_bytes() < account.peak_bytes() ? in_order : account;
}

Result<std::vector<PassRecord>> Planner::records(const Module& module, const Decisions& decisions,
                                                 const PassOptions& options) const {
  const auto copy = module.clone();
  std::vector<StreamDecision> found;
  return run_passes(*copy, whole_pipeline(decisions, *target_, found), *target_, options);
}

Result<double> Planner::modelled_elsewhere(const Decisions& decisions) const {
  const Target& target = target_->modelled_as();
  LT_ASSIGN_OR_RETURN(Rewritten rewritten, stream_all(decisions));
  LT_RETURN_IF_ERROR(rewritten.run(rows_behind_streams({}, target), target));
  const std::shared_ptr<Module> module = std::move(rewritten.module);
  return modelled_ns(schedule(module, target, {.nests = nests_}), target.cost());
}

Result<Measured> Planner::measure(const Decisions& decisions, Checked checked) const {
  if (target_->takes() == Takes::kProgram) {
    LT_ASSIGN_OR_RETURN(Compiled compiled, plan_unchecked(decisions));
    if (checked == Checked::kYes || context().settings().choices.check) LT_RETURN_IF_ERROR(check_plan(compiled));
    const Program& p = *compiled.program;
    return Measured{.peak_bytes = p.peak_bytes(),
                    .temp_bytes = p.temp_bytes,
                    .ns = modelled_ns(p, target_->cost()),
                    .potential = potential_of(p.temp_bytes, p.load_bytes, p.live),
                    .at_peak = peak_values(p),
                    .could_rearrange = p.could_rearrange,
                    .compiled = std::move(compiled)};
  }
  LT_ASSIGN_OR_RETURN(const auto module, exported(decisions));
  const Account account = account_of(*module, decisions, kLittlePackWork);
  LT_ASSIGN_OR_RETURN(const double ns, modelled_elsewhere(decisions));
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

Result<Compiled> Planner::plan_streamed(const std::shared_ptr<Module>& streamed, const Target& target,
                                        const Decisions& decisions) {
  Compiled compiled;
  compiled.target = &target;
  const std::vector<Pass> rows = rows_behind_streams(decisions, target);
  LT_ASSIGN_OR_RETURN(compiled.passes, run_passes(*streamed, rows, target, {.quiet = true}));
  make_program(compiled, streamed, decisions, {}, std::make_shared<KnownNests>());
  LT_RETURN_IF_ERROR(check_plan(compiled));
  return compiled;
}

bool Planner::changes(std::optional<bool>& known, Result<PassResult> (*pass)(Module&, const Target&)) const {
  if (!known) {
    const std::unique_ptr<Module> trial = shared_->clone();
    const auto result = pass(*trial, *target_);
    known = result.ok() && result->changed;
  }
  return *known;
}

bool Planner::could_hoist() const {
  // XLA hoists by itself, and most programs have no loop, which needs no copy to see.
  if (target_->takes() == Takes::kModule || !has_loops(*shared_)) return false;
  return changes(could_hoist_, hoist_loop_invariants);
}
bool Planner::could_update() const { return changes(could_update_, update_where_it_is_made); }

const std::vector<RecomputeOffer>& Planner::recompute_offers() const {
  if (!recompute_offers_) recompute_offers_ = engine::recompute_offers(*shared_, *target_);
  return *recompute_offers_;
}

const std::vector<Grouping>& Planner::groupings() const {
  if (!groupings_) groupings_ = engine::groupings(*shared_);
  return *groupings_;
}

const std::vector<std::vector<Grouping>>& Planner::nested_groupings() const {
  if (!nested_groupings_) nested_groupings_ = engine::nested_groupings(*shared_);
  return *nested_groupings_;
}

int64_t Planner::offloadable() const {
  if (!offloadable_) offloadable_ = engine::offloadable(*shared_);
  return *offloadable_;
}

Planner Planner::of_shared(std::shared_ptr<const Module> shared, const Target& target) {
  Planner planner(target);
  planner.shared_ = std::move(shared);
  return planner;
}

}  // namespace lowtide::engine
