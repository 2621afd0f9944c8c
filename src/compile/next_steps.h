#pragma once
/// What a plan could have one decision more of: streams of what is alive where most is, values recomputed, updates
/// where they are made. The search (compile/frontier.h) tries them.

#include <map>
#include <string>
#include <vector>

#include "compile/frontier.h"
#include "compile/peak_values.h"
#include "compile/planner.h"

namespace lowtide::engine {

/// A plan that was tried.
struct Trial {
  FrontierPoint point;
  double potential = 0;  ///< Measured::potential
  std::vector<PeakValue> at_peak;
  bool could_rearrange = false;
};

/// Steps of which each takes more time than the one before.
struct Series {
  std::vector<Decisions> steps;
  std::vector<Decisions> easier;  ///< than the first, the nearest first, where that one takes too much already
};

/// Is it a `recompute`?
bool is_recompute(const Decision& decision);

/// A decision per line: the key of what is known about a plan.
std::string key_of(const Decisions& decisions);

class NextSteps {
 public:
  explicit NextSteps(const Planner& planner) : planner_(planner) {}

  /// What the search knows, and allows, by now.
  struct State {
    bool has_few_plans = false;    ///< large programs: what seldom helps is left out
    bool is_free_found = false;    ///< before, nothing is taken that the free plan wouldn't take
    bool tries_dear_ways = false;  ///< streams that spend more time for less memory, beside those that only stream
    bool is_kept_for_late_readers = true;  ///< does `rematerialise` change anything?
    double most_ns = 0;                    ///< what a plan may take
  };
  State state;

  /// Of each kind a series.
  std::vector<Series> from(const Trial& at) const;
  /// One more stream.
  void add_streams(const Trial& at, std::vector<Series>& steps) const;
  /// What is recomputed at a higher price than so far. It stands before the streams, as it is done before them.
  void add_recompute(const Trial& at, std::vector<Series>& steps) const;
  /// What the streams have left is recomputed, at a higher price than so far: of those on offer, so many.
  void add_recompute_among(const Trial& at, size_t most, std::vector<Series>& steps) const;

  /// What candidates are worth has changed: tries_dear_ways.
  void forget_candidates() { candidates_.clear(); }

 private:
  bool is_within_streams(const Trial& at) const;
  std::vector<int64_t> some_tiles(const StreamCandidate& candidate) const;
  const std::vector<StreamCandidate>& candidates_at(const Trial& at) const;
  const std::vector<RecomputeOffer>& offers_among(const Decisions& decisions) const;
  void add_groups(const Trial& at, std::vector<Series>& steps) const;

  const Planner& planner_;
  mutable std::map<std::string, std::vector<StreamCandidate>> candidates_;  ///< by decisions
  mutable std::map<std::string, std::vector<RecomputeOffer>> offers_;       ///< likewise
};

}  // namespace lowtide::engine
