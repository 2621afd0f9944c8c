#pragma once
/// The moment at which most is alive in a computation: what stands then and is read behind it is kept until it is read,
/// or made again.

#include <vector>

#include "passes/recompute/lives.h"
#include "target/target.h"

namespace lowtide::engine {

class Moment {
 public:
  explicit Moment(Computation& computation);

  int64_t load() const { return lives_.most(); }
  int32_t place() const { return fullest_; }
  /// By place: what is made again where a byte that is kept costs so much; the cheapest choice for all.
  std::vector<bool> choose(const Target& target, double ns_per_byte) const;

 private:
  Computation& computation_;
  const Lives lives_;
  const int32_t fullest_;
};

/// What stands up to `place` and is marked by `made` is made again for those who read it behind `place`: just before
/// the first of them, operands first. How many instructions that are.
int64_t make_again(Computation& computation, int32_t place, const std::vector<bool>& made);

}  // namespace lowtide::engine
