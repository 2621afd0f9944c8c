#pragma once
/// Converts rows of stored elements to rows of summed ones, and back: bf16 in the widest vectors of this machine.

#include <algorithm>
#include <cstdint>

#include "base/small_types.h"

namespace lowtide::engine {

void convert_row(const BFloat16* from, int64_t count, float* to);
/// Rounds to nearest, ties to even.
void convert_row(const float* from, int64_t count, BFloat16* to);

template <class T>
void convert_row(const T* from, int64_t count, T* to) {
  std::copy(from, from + count, to);
}

}  // namespace lowtide::engine
