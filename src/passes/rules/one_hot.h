#pragma once
/// Values that are zero except where an index equals an id: one-hot rows, with or without a mask and a factor.

#include <optional>

#include "passes/rules/index_forms.h"

namespace lowtide::engine {

/// value[r, c] = ids[r] == first + c and valid[r] ? scale[r] : 0, with c along one dimension and r the other ones in
/// their order.
struct OneHot {
  int64_t first = 0, classes = 0;
  Instruction* ids = nullptr;    ///< integers
  Instruction* valid = nullptr;  ///< null: everywhere
  Instruction* scale = nullptr;  ///< null: 1; of the value's type
};

/// The value as one-hot along dimension `d`. Without a maker nothing is created, and the result only says whether it is
/// one.
/// Looked through: compares of integers in either order and sense, converts, selects between zero and anything that
/// doesn't depend on c, masks, factors, and whatever moves elements.
std::optional<OneHot> one_hot_along(Instruction* value, int64_t d, Maker* maker);

/// The type in which a dot of this type sums: f32 for small floats.
ElementType sum_type(ElementType type);

/// The ids as places in 0 ... classes - 1; those out of range stay out of range.
Instruction* places_of(const OneHot& one_hot, Maker& maker);

}  // namespace lowtide::engine
