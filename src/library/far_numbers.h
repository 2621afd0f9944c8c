#pragma once
/// Scales matrices whose elements are so large or small that the sums of their squares overflow or underflow.

#include <algorithm>
#include <cmath>
#include <limits>

namespace lowtide::engine {

/// The divisor for scaling a matrix: 1, or a power of two if its largest element is far from 1; NaN if `poison`, the
/// sum of its elements' products with zero, shows that an element isn't finite.
template <class T>
T unit_for(T largest, T poison) {
  constexpr T kFar = sizeof(T) == 4 ? T(0x1p40) : T(0x1p400);
  if (!(poison == 0)) return std::numeric_limits<T>::quiet_NaN();
  if (largest == 0 || (largest < kFar && largest > 1 / kFar)) return 1;
  return std::ldexp(T(1), std::max(std::ilogb(largest), std::numeric_limits<T>::min_exponent));
}

}  // namespace lowtide::engine
