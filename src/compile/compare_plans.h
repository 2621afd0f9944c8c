#pragma once
/// Compares a module's plans with the module itself, on seeded arguments.
///
/// A program may turn roundings into large differences: bf16 sums that cancel, exponentials of large numbers. So it
/// runs twice as given, once with perturbed roundings (interp/noise.h), and differences of that size are tolerated. If
/// little is left to compare, arguments are scaled down, so that fewer results overflow.

#include <functional>
#include <optional>

#include "backend/backend.h"
#include "compile/planner.h"

namespace lowtide::engine {

class PlanComparison {
 public:
  /// Runs the module as given: interpreted if that is `quick`, or else compiled without streams, by `planner`. An error
  /// if neither is possible. backend: runs compiled programs; it must outlive this.
  static Result<PlanComparison> make(const Module& module, const Planner& planner, const Backend& backend, bool quick);

  size_t results() const { return expected_.size(); }
  /// How many of these can't be judged, because rounding alone may change them as much as an error.
  size_t vague() const;
  /// The message if no plan differs.
  std::string agreement() const;
  /// The first difference in words; empty if the results agree.
  Result<std::string> difference(const Compiled& plan) const;
  /// The smallest number of leading decisions with which results differ; 0 if they differ even without any; nullopt if
  /// they never differ. plan: makes the plan with the given number of the `count` decisions.
  Result<std::optional<size_t>> first_wrong(size_t count, const std::function<Result<Compiled>(size_t)>& plan) const;

 private:
  struct Spread {
    double of_max = 0;          ///< how far rounding moves elements, relative to the largest
    bool vague = false;         ///< rounding moves elements so far that nothing can be concluded
    std::vector<int64_t> lost;  ///< elements that rounding may make infinite or NaN
  };
  explicit PlanComparison(const Backend& backend) : backend_(&backend) {}
  Result<std::vector<Value>> run(const Compiled& compiled, std::span<const Value> arguments) const;
  Result<bool> run_as_given(const Module& module, const Planner& planner, bool quick, double scale);
  void measure(const std::vector<Value>& noisy);
  /// Tolerates the change that sums in another order cause without any stream, since plans may differ as much.
  void allow_for_sums(const std::vector<Value>& summed);
  size_t unclear() const;

  const Backend* backend_;
  std::vector<Value> arguments_, expected_;
  std::vector<Spread> spreads_;
  double coarsest_ = 0;  ///< roundoff of the narrowest float in which the module computes
  std::string how_;      ///< it was run as given
};

}  // namespace lowtide::engine
