#pragma once
/// Which peaks can be had at which time: plans found from the free one by streaming what is alive where most is, more
/// and more of it. The search knows no limit, so that what a limit gets is monotone in it.

#include <optional>

#include "compile/planner.h"

namespace lowtide::engine {

struct FrontierPoint {
  int64_t peak_bytes = 0, temp_bytes = 0;
  double ns = 0;  ///< modelled
  Decisions decisions;
  /// Do they take the same memory and time?
  bool equals(const FrontierPoint& o) const {
    return peak_bytes == o.peak_bytes && temp_bytes == o.temp_bytes && ns == o.ns;
  }
};

struct Frontier {
  FrontierPoint free;                 ///< the free plan: the lowest that takes little more time than without streams
  Compiled free_plan;                 ///< the same, planned to the end
  std::vector<FrontierPoint> points;  ///< by falling peak; each takes more time than those before it
  int64_t plans = 0;                  ///< tried
  bool interrupted = false;           ///< before all were tried

  /// The fastest whose peak is within the limit; null: none is.
  const FrontierPoint* within(int64_t limit) const;
  const FrontierPoint& tightest() const { return points.back(); }
};

struct FrontierOptions {
  int64_t budget = 0;      ///< plans tried at most; 0: as many as the module's size allows
  bool only_free = false;  ///< as far as the free plan needs it
};

/// Where it is asked to stop (Context::stop): what was found until then; the fault interrupted() where that is
/// nothing.
Result<Frontier> find_frontier(const Planner& planner, const FrontierOptions& options = {});

/// The free plan, where the limit is met by it or absent; otherwise the fastest plan within it. A fault of kind kLimit
/// names the lowest peak found, which `tightest` is set to.
Result<Compiled> compile_within(const Module& module, const Target& target, std::optional<int64_t> limit,
                                std::optional<int64_t>* tightest = nullptr);

}  // namespace lowtide::engine
