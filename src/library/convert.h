#pragma once
/// Converts stored elements to the types in which products are summed, and back.

#include <bit>

#include "ops/numbers.h"

namespace lowtide::engine {

/// Floats up to 32 bits are summed as float; integers wrap; predicates are counted.
template <class T>
using summed_t = std::conditional_t<is_complex_v<T> || std::is_same_v<T, double>, T,
                                    std::conditional_t<std::is_same_v<computed_t<T>, float>, float,
                                                       std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>>>;

/// Can elements of type T be summed as S?
template <class T, class S>
inline constexpr bool sums_in = std::is_same_v<T, S> || (!is_complex_v<T> && !is_complex_v<S> &&
                                                         (std::is_integral_v<computed_t<T>> == std::is_integral_v<S>));

/// Exact, without the branches of the general definition.
inline float half_to_float(uint16_t half) {
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fffu) << 13;
  uint32_t bits = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  if ((half & 0x7c00u) == 0x7c00u) bits = magnitude | 0x7f800000u;
  return std::bit_cast<float>(bits | static_cast<uint32_t>(half & 0x8000u) << 16);
}

template <class S, class T>
S to_sum(T element) {
  if constexpr (is_complex_v<T>) {
    return element;
  } else if constexpr (std::is_same_v<T, Float16>) {
    return static_cast<S>(half_to_float(element.bits));
  } else {
    return static_cast<S>(widen(element));
  }
}

template <class T, class S>
T from_sum(S sum) {
  if constexpr (std::is_same_v<T, bool>) {
    return sum != 0;
  } else if constexpr (std::is_same_v<T, S>) {
    return sum;
  } else {
    return narrow<T>(static_cast<computed_t<T>>(sum));
  }
}

}  // namespace lowtide::engine
