#pragma once
/// The moment at which most bytes are live in a computation: a value that is live then and read later is either kept
/// until then, or recomputed.

#include <string_view>
#include <vector>

#include "passes/recompute/lives.h"
#include "target/target.h"

namespace lowtide::engine {

/// Suffix of the names of an instruction's copies.
inline constexpr std::string_view kAgain = ".again";

/// The part of a kept byte's price that applies to a value computed at a place before the fullest one: it grows with
/// the time for which the value is kept. Of equal layers the first are thus recomputed at a lower price than the last,
/// and there are choices between all and none.
double price_of_age(int32_t place, int32_t fullest);

class Moment {
 public:
  explicit Moment(Computation& computation);

  int64_t load() const { return lives_.most(); }
  int32_t place() const { return fullest_; }
  /// By place: which values to recompute at this price of a kept byte, as the cheapest choice for all.
  std::vector<bool> choose(const Target& target, double ns_per_byte) const;

 private:
  Computation& computation_;
  const Lives lives_;
  const int32_t fullest_;
};

/// Recomputes the values up to `place` that `made` marks for their readers after `place`: just before the first of
/// these, operands first. Returns the number of instructions added.
int64_t make_again(Computation& computation, int32_t place, const std::vector<bool>& made);

}  // namespace lowtide::engine
