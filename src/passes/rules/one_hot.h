#pragma once
/// Values that are zero but where an index counts up to an id: one-hot rows, with or without a mask and a factor.

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

/// The value as one-hot along dimension `d`. Without a maker nothing is made: the answer is only whether it is one.
/// Looked through: compares of integers in either order and sense, converts, selects between zero and anything that
/// doesn't depend on c, masks, factors, and whatever moves elements.
std::optional<OneHot> one_hot_along(Instruction* value, int64_t d, Maker* maker);

/// In what a dot of this type makes its sums: small floats in f32.
ElementType sum_type(ElementType type);

/// The ids as places in 0 ... classes - 1; what is beyond stays beyond.
Instruction* places_of(const OneHot& one_hot, Maker& maker);

}  // namespace lowtide::engine
