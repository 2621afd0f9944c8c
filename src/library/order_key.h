#pragma once
/// Maps elements to unsigned numbers with the same order.

#include <bit>

#include "library/convert.h"

namespace lowtide::engine {

/// 32 bits suffice for all but 64-bit numbers.
template <class T>
using order_key_t = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;

/// Total order: -NaN, -inf, .., -0, +0, .., inf, NaN. With `zeros_equal` both zeros give one key. Not for complex T.
template <class T>
order_key_t<T> order_key(T element, bool zeros_equal) {
  using Key = order_key_t<T>;
  constexpr Key kTop = Key{1} << (sizeof(Key) * 8 - 1);
  if constexpr (std::is_same_v<T, bool>) {
    return element;
  } else if constexpr (std::is_integral_v<T> || requires(T t) { t.held; }) {
    const auto number = widen(element);
    return static_cast<Key>(number) ^ (std::is_signed_v<decltype(number)> ? kTop : 0);
  } else {
    using Float = std::conditional_t<std::is_same_v<T, double>, double, float>;
    Float number = to_sum<Float>(element);
    if (zeros_equal && number == 0) number = 0;
    const Key bits = std::bit_cast<Key>(number);
    return bits & kTop ? ~bits : bits | kTop;
  }
}

template <class T>
bool is_nan(T element) {
  if constexpr (std::is_same_v<computed_t<T>, float> || std::is_same_v<computed_t<T>, double>) {
    const auto number = to_sum<computed_t<T>>(element);
    return number != number;
  } else {
    return false;
  }
}

/// A key, with its element's index in the low bits: all are distinct, and equal keys keep their elements' order.
template <class Key>
using KeyAt = std::conditional_t<(sizeof(Key) > 4), unsigned __int128, uint64_t>;
template <class Key>
KeyAt<Key> key_at(Key key, uint32_t index) {
  return KeyAt<Key>{key} << 32 | index;
}
/// Position of the top byte of a KeyAt, in bits.
template <class Key>
inline constexpr int kTopByte = 8 * (static_cast<int>(sizeof(Key)) + 3);

}  // namespace lowtide::engine
