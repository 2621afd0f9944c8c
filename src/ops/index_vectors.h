#pragma once
/// The start indices of gather and scatter: vectors along one dimension of an integer array; the others are the batch.

#include "ir/literal.h"

namespace lowtide::engine {

/// Is position `last` an element of the integer type?
bool holds_position(ElementType type, int64_t last);

class IndexVectors {
 public:
  /// `along` may be the array's rank: then every element is a vector of length one.
  IndexVectors(const Literal& array, int64_t along);
  const Dims& batch() const { return batch_; }  ///< extents of the batch
  /// Entry k of the vector at this index of the batch; larger than any extent if the number doesn't fit 63 bits.
  int64_t at(const Dims& place, size_t k) const;
  /// The batch dimension that corresponds to a dimension of the array.
  size_t batch_dimension(int64_t dimension) const {
    return static_cast<size_t>(dimension < along_ ? dimension : dimension - 1);
  }

 private:
  const Literal& array_;
  int64_t along_;
  int64_t vector_step_ = 0;
  Dims batch_, batch_steps_;
};

}  // namespace lowtide::engine
