#pragma once
/// Walking index spaces in row-major order.

#include "ir/shape.h"

namespace lowtide::engine {

/// The distance in elements between neighbours along each dimension of a row-major array.
inline Dims row_major_strides(const Dims& extents) {
  Dims strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

/// Steps to the next index in row-major order; false after the last. The first is all zeros; the space mustn't be
/// empty.
inline bool advance(Dims& index, const Dims& extents) {
  for (size_t d = extents.size(); d-- > 0;) {
    if (++index[d] < extents[d]) return true;
    index[d] = 0;
  }
  return false;
}

/// The offsets, in row-major order of `extents`, of elements that are `strides` apart along each dimension.
inline Dims offsets_of(const Dims& extents, const Dims& strides) {
  Dims offsets{0};
  for (size_t d = 0; d < extents.size(); ++d) {
    Dims next;
    next.reserve(offsets.size() * static_cast<size_t>(extents[d]));
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < extents[d]; ++i) next.push_back(offset + i * strides[d]);
    }
    offsets = std::move(next);
  }
  return offsets;
}

/// The entries of `dims` at these positions.
inline Dims pick(const Dims& dims, const Dims& positions) {
  Dims picked;
  for (const int64_t p : positions) picked.push_back(dims[p]);
  return picked;
}

}  // namespace lowtide::engine
