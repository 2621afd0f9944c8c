#pragma once
/// Do two results agree: the design's one rule, used by run, by the tests of the passes and by the random programs.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ir/literal.h"

namespace lowtide::engine {

/// Floats agree when |x - y| <= rtol |y| + atol_of_max max|y|, the maximum over the finite y of the same array.
/// Integers and predicates agree only when equal, whatever the tolerance.
struct Tolerance {
  double rtol = 0;
  double atol_of_max = 0;
};

/// What another order of the same sums, and functions within a few units in the last place, can explain.
Tolerance usual_tolerance(ElementType type);

/// What differs between results and expectation.
struct Comparison {
  int64_t mismatches = 0;    ///< elements out of tolerance, and all elements of an array of another shape
  double max_abs_error = 0;  ///< over the elements that are finite on both sides, agreeing ones included
  int64_t max_ulp = 0;       ///< the same in units of the expected type's last place; floats only
  std::string first;         ///< "out1{0,3}: 1.5, expected 1.25"; empty when nothing mismatches
  bool agrees() const { return mismatches == 0; }
};

/// Compares arrays, tuples leaf by leaf. NaN agrees with NaN; values below the type's smallest normal number count as
/// zero; an infinity agrees only with itself. A complex number agrees when its distance is within tolerance.
/// `name` opens the sentence of the first mismatch.
Comparison compare(const Literal& got, const Literal& want, const Tolerance& tolerance, const std::string& name);

/// The same for elements in row-major order wherever they lie, aligned or not; adds to `result`.
void compare_bytes(const Shape& array, const std::byte* got, const std::byte* want, const Tolerance& tolerance,
                   const std::string& name, Comparison& result);

/// Results with expected results, one by one, named out0, out1, ...
Comparison compare_results(std::span<const Value> got, std::span<const Value> want, const Tolerance& tolerance);

/// Empty, or in words the first result that differs by more than the usual tolerance of its type.
std::string usual_difference(std::span<const Value> got, std::span<const Value> want);

}  // namespace lowtide::engine
