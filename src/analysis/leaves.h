#pragma once
/// Leaves: the arrays that an instruction's shape bundles, numbered depth first.

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// Leaf counts and offsets within each computation. Leaves of one computation are numbered in its instruction order.
class Leaves {
 public:
  explicit Leaves(const Module& module);

  int32_t count(const Instruction& i) const { return count_[static_cast<size_t>(i.id)]; }
  int32_t first(const Instruction& i) const { return first_[static_cast<size_t>(i.id)]; }
  /// Leaves of a whole computation; -1 where they are too many to account for.
  int64_t count(const Computation& c) const;

 private:
  std::vector<int32_t> count_, first_;
};

inline constexpr int64_t kMostLeaves = int64_t{1} << 22;  ///< of a shape, a computation, a timeline: more is hostile

int64_t leaf_count(const Shape& shape);                     ///< saturates at kMostLeaves
const Shape* leaf_shape(const Shape& shape, int64_t leaf);  ///< null: no such leaf
ShapeIndex leaf_index(const Shape& shape, int64_t leaf);    ///< path to it
int64_t leaf_offset(const Shape& tuple, int64_t element);   ///< leaves before an element of a tuple
/// Leaves before and in the part that `index` names; false where the shape has no such part.
bool leaf_range(const Shape& shape, const ShapeIndex& index, int64_t& first, int64_t& count);

}  // namespace lowtide::engine
