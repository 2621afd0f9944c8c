#pragma once
/// Matrices whose elements are so large or small that sums of their squares aren't numbers.

#include <algorithm>
#include <cmath>
#include <limits>

namespace lowtide::engine {

/// What to divide a matrix by: 1, or a power of two where its largest element is far from it; NaN where `poison`, the
/// sum of its elements' products with zero, says that one isn't finite.
template <class T>
T unit_for(T largest, T poison) {
  constexpr T kFar = sizeof(T) == 4 ? T(0x1p40) : T(0x1p400);
  if (!(poison == 0)) return std::numeric_limits<T>::quiet_NaN();
  if (largest == 0 || (largest < kFar && largest > 1 / kFar)) return 1;
  return std::ldexp(T(1), std::max(std::ilogb(largest), std::numeric_limits<T>::min_exponent));
}

}  // namespace lowtide::engine
