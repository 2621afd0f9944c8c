#pragma once
/// Comparisons of numbers (numbers.h), as in the operation compare.

#include <bit>
#include <cstdint>

#include "ir/attributes.h"
#include "ops/numbers.h"

namespace lowtide::engine {

/// The bits of a float as an integer with the order of TOTALORDER: negative floats count down from -1.
template <class C>
auto total_order(C x) {
  if constexpr (std::is_same_v<C, float>) {
    const auto bits = std::bit_cast<int32_t>(x);
    return bits < 0 ? bits ^ 0x7fffffff : bits;
  } else if constexpr (std::is_same_v<C, double>) {
    const auto bits = std::bit_cast<int64_t>(x);
    return bits < 0 ? bits ^ 0x7fffffffffffffff : bits;
  } else {
    return x;
  }
}

/// Does the comparison hold? Complex numbers have no order, only equality.
template <class N>
bool holds(CompareDirection direction, N a, N b) {
  if (direction == CompareDirection::kEq) return a == b;
  if (direction == CompareDirection::kNe) return a != b;
  if constexpr (is_complex_v<N>) {
    return false;
  } else {
    if (direction == CompareDirection::kGe) return a >= b;
    if (direction == CompareDirection::kGt) return a > b;
    if (direction == CompareDirection::kLe) return a <= b;
    return a < b;
  }
}

/// The same, in total order if `compare` asks for it.
template <class C>
bool holds(const CompareAttributes& compare, C a, C b) {
  if (compare.type == CompareType::kTotalOrder) return holds(compare.direction, total_order(a), total_order(b));
  return holds(compare.direction, a, b);
}

}  // namespace lowtide::engine
