#pragma once
/// Linear equations in bounded integers: can two accesses touch the same element? All proofs about elements reduce to
/// this question (check_program). Answers are sound in one direction: "no solution" is proved.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/int128.h"

namespace lowtide::engine {

/// constant + sum of coefficient * unknown = 0, each unknown a separate integer within [least, greatest].
class Equation {
 public:
  void add(Int128 constant) { constant_ += constant; }
  /// If an unknown has no possible value, there is no solution.
  void add(Int128 coefficient, Int128 least, Int128 greatest);
  /// False if there is no solution; true if there is one or none could be excluded.
  bool may_hold() const;

 private:
  /// coefficient * x with 0 <= x <= most.
  struct Term {
    Int128 coefficient = 0, most = 0;
  };
  static bool may_hold(const std::vector<Term>& terms, size_t first, Int128 wanted, int& visits);

  Int128 constant_ = 0;
  bool impossible_ = false, unbounded_ = false;
  std::vector<Term> terms_;
};

}  // namespace lowtide::engine
