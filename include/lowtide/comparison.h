#pragma once
/// Compares two results.

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/program_array.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// Floats agree when |x - y| <= rtol |y| + atol_of_max max|y|, the maximum over the finite y of the same array.
/// Integers and predicates agree only when equal, whatever the tolerance.
struct Tolerance {
  double rtol = 0;
  double atol_of_max = 0;
};

/// How results differ from what is expected. NaN agrees with NaN; values below the type's smallest normal number count
/// as zero; an infinity agrees only with itself. A complex number agrees when its distance is within tolerance.
struct Comparison {
  int64_t mismatches = 0;    ///< elements out of tolerance, and all elements of an array of another shape
  double max_abs_error = 0;  ///< over the elements that are finite on both sides, matching ones included
  int64_t max_ulp = 0;       ///< the largest error in units of the expected type's last place; floats only
  std::string first;         ///< "out1{0,3}: 1.5, expected 1.25"; empty when nothing mismatches
  bool agrees() const { return mismatches == 0; }
};

/// Compares row-major elements of an array, aligned or not. `name` begins the message about the first mismatch. kUsage:
/// the type is unknown.
LOWTIDE_PUBLIC Result<Comparison> compare(const ProgramArray& array, const void* got, const void* expected,
                                          const Tolerance& tolerance, const std::string& name = "result");

/// One of several results that isn't as expected.
struct ResultDifference {
  std::string name;   ///< "out1"
  std::string path;   ///< ProgramArray::path
  std::string shape;  ///< "f32[2,3]"
  int64_t elements = 0;
  Comparison comparison;
};

struct ResultsComparison {
  Comparison all;
  std::vector<ResultDifference> differences;  ///< only the results that differ
};

}  // namespace lowtide
