#pragma once
/// Recognises comparators of sorts that compare keys.

#include <optional>
#include <vector>

#include "ir/module.h"
#include "ops/scalar_program.h"

namespace lowtide::engine {

/// The comparator "f(a) before f(b)", with a and b elements of one operand, so that sorting can compare keys.
struct SortKey {
  size_t operand = 0;
  ElementType type = ElementType::kF32;   ///< of the key
  std::optional<ScalarProgram> function;  ///< f; none: the element itself
  bool joins_equals = false;              ///< f only turns -0 into 0, and every NaN into one that is positive
  bool descending = false;
  bool total_order = false;  ///< otherwise zeros are equal, and NaN compares as unordered
};

/// The keys of "by the first; where it is equal by the second; ..."; empty if the comparator is something else.
std::vector<SortKey> sort_keys(const Computation& comparator);

}  // namespace lowtide::engine
