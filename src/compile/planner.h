#pragma once
/// Makes many plans of one module; shared work is done once.

#include <optional>

#include "analysis/account.h"
#include "compile/compile.h"
#include "compile/peak_values.h"
#include "compile/plan_rows.h"
#include "passes/recompute/recompute.h"

namespace lowtide::engine {

/// A plan's measures for the search. For a target that takes modules: the account of the returned program.
struct Measured {
  int64_t peak_bytes = 0, temp_bytes = 0;
  double ns = 0;         ///< modelled, by Target::modelled_as
  double potential = 0;  ///< bytes: between load and average, so that each of several equal peaks counts
  std::vector<PeakValue> at_peak;
  bool could_rearrange = false;
  std::optional<Compiled> compiled;  ///< the plan itself, for targets that take programs
};

/// kNo: the caller must call check_plan() on the plan.
enum class Checked : uint8_t { kNo, kYes };

class Planner {
 public:
  /// Applies the passes that all plans share to a copy of the module.
  static Result<Planner> make(const Module& module, const Target& target);

  Result<Measured> measure(const Decisions& decisions, Checked checked = Checked::kYes) const;

  Result<Compiled> plan(const Decisions& decisions) const;
  /// The module after the last of these streams, in which the next one would be found. Plans that extend it are then
  /// made faster.
  Result<std::shared_ptr<const Module>> streamed(const Decisions& decisions) const;
  /// Do loops compute again in each iteration what doesn't vary, and takes long?
  bool could_hoist() const;
  /// Are there stacks that are consumed slice by slice after the loop that fills them?
  bool could_update() const;
  const std::vector<RecomputeOffer>& recompute_offers() const;
  /// Groupings of loops that could save only every so many iterations; the one that saves most is last.
  const std::vector<Grouping>& groupings() const;
  const std::vector<std::vector<Grouping>>& nested_groupings() const;
  /// How many values could wait in the host's memory.
  int64_t offloadable() const;
  /// The returned program. Only for targets that take modules.
  Result<std::unique_ptr<Module>> exported(const Decisions& decisions) const;
  /// Its account, in the order that needs less: depth first, or the one that was found when values were recomputed.
  Account account_of(const Module& exported, const Decisions& decisions, int64_t pack_work = kAccountWork) const;
  /// What each pass did to produce it, with peaks if requested.
  Result<std::vector<PassRecord>> records(const Module& module, const Decisions& decisions,
                                          const PassOptions& options) const;
  const Target& target() const { return *target_; }
  /// The rest of planning, from a module with all streams.
  static Result<Compiled> plan_streamed(const std::shared_ptr<Module>& streamed, const Target& target,
                                        const Decisions& decisions);
  /// The same plan, with the passes' default streams as explicit decisions.
  Result<Decisions> spelt(const Decisions& decisions) const;
  /// For a module after the shared passes.
  static Planner of_shared(std::shared_ptr<const Module> shared, const Target& target);
  const Module& shared() const { return *shared_; }
  Context& context() const { return shared_->context(); }
  int64_t instructions() const { return shared_->instruction_count(); }

 private:
  explicit Planner(const Target& target);
  class StreamedModules;
  Result<Compiled> plan_unchecked(const Decisions& decisions) const;
  struct Rewritten {
    std::unique_ptr<Module> module;
    std::vector<PassRecord> records;
    std::vector<StreamDecision> found;  ///< streams that passes make by default
    Status run(const std::vector<Pass>& rows, const Target& target);
  };
  /// Applies all streams; then the rest.
  Result<Rewritten> stream_all(const Decisions& decisions) const;
  Result<Rewritten> rewrite(const Decisions& decisions) const;
  Result<double> modelled_elsewhere(const Decisions& decisions) const;
  const Target* target_;
  std::shared_ptr<const Module> shared_;  ///< after the passes that every plan runs
  std::vector<PassRecord> passes_;
  std::shared_ptr<KnownNests> nests_;
  std::shared_ptr<StreamedModules> streamed_;
  bool changes(std::optional<bool>& known, Result<PassResult> (*pass)(Module&, const Target&)) const;
  // Found when first asked.
  mutable std::optional<bool> could_hoist_, could_update_;
  mutable std::optional<std::vector<RecomputeOffer>> recompute_offers_;
  mutable std::optional<std::vector<Grouping>> groupings_;
  mutable std::optional<std::vector<std::vector<Grouping>>> nested_groupings_;
  mutable std::optional<int64_t> offloadable_;
};

}  // namespace lowtide::engine
