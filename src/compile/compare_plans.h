#pragma once
/// A module's plans against the module itself, on seeded arguments.
///
/// A program may turn roundings into large differences: bf16 sums that cancel, exponentials of large numbers. So it
/// runs twice as given, once with roundings moved (interp/noise.h), and what differs then is no fault. Where little is
/// left to compare, arguments are scaled down: results that overflowed say more then.

#include <functional>
#include <optional>

#include "backend/backend.h"
#include "compile/planner.h"

namespace lowtide::engine {

class PlanComparison {
 public:
  /// Runs the module as given: by the definitions of its operations where that is `quick`, or else compiled without
  /// streams, by `planner`. A fault where neither can be done. backend: runs what is compiled; it must outlive this.
  static Result<PlanComparison> make(const Module& module, const Planner& planner, const Backend& backend, bool quick);

  size_t results() const { return expected_.size(); }
  /// Of these, so many of which rounding leaves too little to tell a fault from it.
  size_t vague() const;
  /// What is said where no plan differs.
  std::string agreement() const;
  /// The first difference in words; empty where the results agree.
  Result<std::string> difference(const Compiled& plan) const;
  /// The number of decisions, from the first on, with which results differ first; 0: without any; nullopt: with none.
  /// plan: by so many of `count` decisions.
  Result<std::optional<size_t>> first_wrong(size_t count, const std::function<Result<Compiled>(size_t)>& plan) const;

 private:
  struct Spread {
    double of_max = 0;          ///< how far rounding moves elements, of the largest
    bool vague = false;         ///< or that much of them that nothing can be told
    std::vector<int64_t> lost;  ///< elements that rounding may make infinite, or no number
  };
  explicit PlanComparison(const Backend& backend) : backend_(&backend) {}
  Result<std::vector<Value>> run(const Compiled& compiled, std::span<const Value> arguments) const;
  Result<bool> run_as_given(const Module& module, const Planner& planner, bool quick, double scale);
  void measure(const std::vector<Value>& noisy);
  /// Sums in another order, without any stream, moved the results so far: others may be off as much.
  void allow_for_sums(const std::vector<Value>& summed);
  size_t unclear() const;

  const Backend* backend_;
  std::vector<Value> arguments_, expected_;
  std::vector<Spread> spreads_;
  double coarsest_ = 0;  ///< roundoff of the narrowest float in which the module computes
  std::string how_;      ///< it was run as given
};

}  // namespace lowtide::engine
