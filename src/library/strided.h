#pragma once
/// Several dimensions of an array indexed as one: index -> offset in elements.

#include <cstdint>
#include <vector>

#include "ir/shape.h"

namespace lowtide::engine {

struct StridedGroup {
  struct Dimension {
    int64_t extent = 1, stride = 0;
  };
  std::vector<Dimension> dims;  ///< major first; adjacent dimensions with a common stride are merged
  int64_t extent = 1;

  StridedGroup() = default;
  StridedGroup(const Dims& extents, const Dims& strides, const Dims& chosen) {
    for (const int64_t d : chosen) {
      const int64_t e = extents[d], s = strides[d];
      extent *= e;
      if (e == 1) continue;
      if (!dims.empty() && dims.back().stride == s * e) {
        dims.back() = {dims.back().extent * e, s};
      } else {
        dims.push_back({e, s});
      }
    }
  }

  bool is_one() const { return dims.size() <= 1; }
  /// Stride of consecutive indices; needs is_one().
  int64_t stride() const { return dims.empty() ? 0 : dims.back().stride; }
  int64_t offset(int64_t index) const {
    int64_t at = 0;
    for (size_t d = dims.size(); d-- > 1;) {
      at += index % dims[d].extent * dims[d].stride;
      index /= dims[d].extent;
    }
    return dims.empty() ? 0 : at + index * dims[0].stride;
  }
};

}  // namespace lowtide::engine
