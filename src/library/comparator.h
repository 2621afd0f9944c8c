#pragma once
/// What a sort's comparator says, where it can be said shortly.

#include <optional>

#include "ir/module.h"
#include "ops/scalar_program.h"

namespace lowtide::engine {

/// "f(a) before f(b)", a and b of one operand: sorting is then a matter of keys.
struct SortKey {
  size_t operand = 0;
  ElementType type = ElementType::kF32;   ///< of the key
  std::optional<ScalarProgram> function;  ///< f; nothing: the element itself
  bool descending = false;
  bool total_order = false;  ///< otherwise zeros are equal, and NaN compares as unordered
};

std::optional<SortKey> sort_key(const Computation& comparator);

}  // namespace lowtide::engine
