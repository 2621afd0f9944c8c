#pragma once
/// Leaves: the arrays in an instruction's shape, numbered depth first.

#include <cstdint>

#include "ir/shape.h"

namespace lowtide::engine {

inline constexpr int64_t kMostLeaves = int64_t{1} << 22;  ///< of a shape, computation or timeline: more is hostile

int64_t leaf_count(const Shape& shape);                     ///< saturates at kMostLeaves
const Shape* leaf_shape(const Shape& shape, int64_t leaf);  ///< null: no such leaf
ShapeIndex leaf_index(const Shape& shape, int64_t leaf);    ///< path to it
int64_t leaf_offset(const Shape& tuple, int64_t element);   ///< leaves before an element of a tuple
/// The number of leaves before and in the part that `index` names; false if the shape has no such part.
bool leaf_range(const Shape& shape, const ShapeIndex& index, int64_t& first, int64_t& count);

}  // namespace lowtide::engine
