#pragma once
/// Figures of the float types that random programs use, in the terms of their error bounds; of complex types: of each
/// part.

#include <cmath>
#include <vector>

#include "ir/literal.h"

namespace lowtide::engine {

inline constexpr int kConstantGrid = -3;  ///< float constants are multiples of 1/8

/// Bits of the significand, the hidden one included.
inline int precision(ElementType type) {
  switch (type) {
    case ElementType::kF16: return 11;
    case ElementType::kBF16: return 8;
    case ElementType::kF32:
    case ElementType::kC64: return 24;
    default: return 53;
  }
}

/// Bound of the relative error of one rounding, with room for contraction and for a reciprocal in place of a division.
inline double unit_roundoff(ElementType type) { return 1.0 / static_cast<double>(int64_t{1} << (precision(type) - 1)); }

/// Numbers below this size may be flushed to zero, or lose bits.
inline double smallest_step(ElementType type) {
  return type == ElementType::kF16                                 ? 0x1p-14
         : type == ElementType::kF64 || type == ElementType::kC128 ? 0x1p-1022
                                                                   : 0x1p-126;
}
inline int least_grid(ElementType type) { return type == ElementType::kF16 ? -14 : -100; }

/// Results stay below this, so that no intermediate of another executor overflows.
inline double largest_allowed(ElementType type) { return type == ElementType::kF16 ? 1e4 : 1e6; }

/// Infinite, no number, denormal, or near an end of the type.
inline bool is_special(ElementType type, double x) {
  return !std::isfinite(x) || (x != 0 && std::fabs(x) < smallest_step(type)) || std::fabs(x) > largest_allowed(type);
}

/// Beyond this share of the largest element an error bound makes the comparison worthless.
inline double largest_error_share(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBF16 ? 0.1 : 1e-3;
}

/// Units of the last place that executors' transcendental functions may be apart. The 16-bit types are computed in f32,
/// or step by step by an expansion of the function into a few operations.
inline double transcendental_roundings(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBF16 ? 8 : 64;
}

/// All elements as numbers; a complex one as two, its real part first.
inline std::vector<double> parts_of(const Literal& array) {
  std::vector<double> parts;
  dispatch(array.shape().type, [&]<class T>() {
    if constexpr (requires(T t) { t.imag(); }) {
      for (const T element : array.data<T>()) {
        parts.push_back(element.real());
        parts.push_back(element.imag());
      }
    } else {
      for (int64_t e = 0; e < array.size(); ++e) parts.push_back(number_at(array, e));
    }
  });
  return parts;
}

}  // namespace lowtide::engine
