#pragma once
/// Leaves of a whole module (ir/shape_leaves.h: of a shape), numbered within each computation.

#include <cstdint>
#include <vector>

#include "ir/module.h"
#include "ir/shape_leaves.h"

namespace lowtide::engine {

/// Leaf counts and offsets within each computation. Leaves of one computation are numbered in its instruction order.
class Leaves {
 public:
  explicit Leaves(const Module& module);

  int32_t count(const Instruction& i) const { return count_[i.id]; }
  int32_t first(const Instruction& i) const { return first_[i.id]; }
  /// The number of leaves of a whole computation; -1 if there are too many for an account.
  int64_t count(const Computation& c) const;

 private:
  std::vector<int32_t> count_, first_;
};

}  // namespace lowtide::engine
