#pragma once
/// Which peaks are possible at which time: plans that extend the free one by streaming ever more of the values that are
/// live at the peak. The search doesn't depend on the limit, so that a higher limit never gives a slower plan.

#include <map>
#include <optional>
#include <string>

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
  Compiled free_plan;                 ///< the plan of that point
  std::vector<FrontierPoint> points;  ///< by decreasing peak; each takes more time than those before it
  double plain_ns = 0;                ///< the program's time without decisions, except that invariants may be hoisted
  int64_t plans = 0;                  ///< tried
  std::map<std::string, int64_t> peaks;  ///< of all plans tried, by key_of() their decisions
  bool interrupted = false;              ///< before all were tried

  /// The fastest whose peak is within the limit; null if none is.
  const FrontierPoint* within(int64_t limit) const;
  /// The lowest of those that take at most this many times plain_ns and the free plan's time, or the fastest.
  const FrontierPoint& within_time(double times) const;
  /// Of the same ones that with the least price: a tenth more time must save an eighth of the memory. Arguments and
  /// results count half.
  const FrontierPoint& balanced_within_time(double times) const;
  const FrontierPoint& tightest() const { return points.back(); }
  /// The peak of a plan, if it was tried.
  std::optional<int64_t> peak_of(const Decisions& decisions) const;
};

struct FrontierOptions {
  int64_t budget = 0;      ///< plans tried at most; 0: as many as the module's size allows
  bool only_free = false;  ///< search only as far as needed for the free plan
  double most_time = 4;    ///< of the free plan's time: nobody would run slower plans
};

/// If it is cancelled (Context::stop), returns what was found until then, or the error interrupted() if nothing was.
Result<Frontier> find_frontier(const Planner& planner, const FrontierOptions& options = {});

/// The free plan if it meets the limit or there is none; otherwise the fastest plan within it. An error of kind kLimit
/// names the lowest peak found, to which `tightest` is set.
Result<Compiled> compile_within(const Module& module, const Target& target, std::optional<int64_t> limit,
                                std::optional<int64_t>* tightest = nullptr);

}  // namespace lowtide::engine
