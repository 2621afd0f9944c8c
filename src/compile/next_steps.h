#pragma once
/// Decisions that could be added to a plan: streaming values that are live at the peak, recomputing values, updating
/// arrays in loops. The search (compile/frontier.h) tries them.

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

/// Steps in order of increasing time.
struct Series {
  std::vector<Decisions> steps;
  std::vector<Decisions> easier{};  ///< faster than the first step, nearest first, in case that one is too slow
  std::vector<Decisions> coarse{};  ///< still faster, with coarser tiles, nearest first
};

/// Is it a `recompute`?
bool is_recompute(const Decision& decision);

/// One decision per line: the key under which results about a plan are cached.
std::string key_of(const Decisions& decisions);

class NextSteps {
 public:
  explicit NextSteps(const Planner& planner) : planner_(planner) {}

  /// The current state of the search.
  struct State {
    bool has_few_plans = false;    ///< large programs: steps that seldom help are left out
    bool is_free_found = false;    ///< until then only steps that the free plan may take
    bool tries_dear_ways = false;  ///< also streams that take more time for less memory
    double most_ns = 0;            ///< limit on a plan's time
  };
  State state;

  /// One series of each kind.
  std::vector<Series> from(const Trial& at) const;
  /// One more stream.
  void add_streams(const Trial& at, std::vector<Series>& steps) const;
  /// Recomputation at higher prices than so far, at most `most` of them; it precedes the streams.
  void add_recompute(const Trial& at, size_t most, std::vector<Series>& steps) const;
  /// Recomputation among the values that the streams leave, at higher prices than so far: at most `most` of them.
  void add_recompute_among(const Trial& at, size_t most, std::vector<Series>& steps) const;
  /// The last recomputation at prices beyond those offered, which are of a rough model of what streams hold.
  void add_dearer_recompute(const Trial& at, std::vector<Series>& steps) const;
  /// For each stream that keeps values from pass to pass, the same one at dearer prices: it keeps fewer.
  void add_dearer_keeping(const Trial& at, std::vector<Series>& steps) const;

 private:
  bool is_within_streams(const Trial& at) const;
  std::vector<int64_t> some_tiles(const StreamCandidate& candidate) const;
  const std::vector<StreamCandidate>& candidates_at(const Trial& at) const;
  std::vector<const StreamCandidate*> worth_trying(const Trial& at) const;
  const std::vector<RecomputeOffer>& offers_among(const Decisions& decisions) const;
  void add_groups(const Trial& at, std::vector<Series>& steps) const;
  void add_offload(const Trial& at, std::vector<Series>& steps) const;

  const Planner& planner_;
  mutable std::map<std::string, std::vector<StreamCandidate>> candidates_;  ///< by decisions
  mutable std::map<std::string, std::vector<RecomputeOffer>> offers_;       ///< likewise
};

}  // namespace lowtide::engine
