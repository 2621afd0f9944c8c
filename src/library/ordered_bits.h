#pragma once
/// The bits of an element as an unsigned number that has the element's place in a total order.

#include <bit>
#include <cstdint>

#include "ir/element_type.h"

namespace lowtide::engine {

template <class Number>
class OrderedBits {
 public:
  static constexpr Number kTop = Number{1} << (8 * sizeof(Number) - 1);

  /// last_nans: NaNs with a sign come after infinity, too (for descending order: before).
  OrderedBits(ElementType type, bool descending, bool last_nans = false)
      : is_float_(is_floating(type)),
        is_signed_(type_kind(type) == TypeKind::kSigned),
        descending_(descending),
        is_half_(type == ElementType::kF16),
        infinity_(infinity_of(type)),
        first_(is_float_ && last_nans ? static_cast<Number>(~(infinity_ | kTop)) : Number{0}) {}

  Number of(Number bits) const {
    Number key = bits;
    if (is_float_) {
      key = static_cast<Number>((bits & kTop ? ~bits : bits | kTop) - first_);
    } else if (is_signed_) {
      key = bits ^ kTop;
    }
    return descending_ ? static_cast<Number>(~key) : key;
  }
  Number bits_of(Number key) const {
    if (descending_) key = static_cast<Number>(~key);
    if (!is_float_) return is_signed_ ? key ^ kTop : key;
    key = static_cast<Number>(key + first_);
    return key & kTop ? static_cast<Number>(key ^ kTop) : static_cast<Number>(~key);
  }

  bool is_nan(Number bits) const { return is_float_ && size(bits) > infinity_; }
  Number nan() const { return static_cast<Number>(infinity_ | 1); }

  /// Does a comparison find the number equal to zero? It does for denormals where these are flushed.
  bool is_zero(Number bits) const {
    const Number magnitude = size(bits);
    if constexpr (sizeof(Number) == 8) return std::bit_cast<double>(magnitude) == 0;
    if constexpr (sizeof(Number) == 4) return std::bit_cast<float>(magnitude) == 0;
    if (is_half_) return magnitude == 0;  // computed in f32, which has its denormals
    return std::bit_cast<float>(static_cast<uint32_t>(magnitude) << 16) == 0;
  }

 private:
  static Number size(Number bits) { return static_cast<Number>(bits & ~kTop); }

  /// The bits of infinity of a floating type; 0 for others.
  static Number infinity_of(ElementType type) {
    switch (type) {
      case ElementType::kF16: return static_cast<Number>(0x7C00);
      case ElementType::kBF16: return static_cast<Number>(0x7F80);
      case ElementType::kF32: return static_cast<Number>(0x7F800000);
      case ElementType::kF64: return static_cast<Number>(uint64_t{0x7FF} << 52);
      default: return 0;
    }
  }

  bool is_float_, is_signed_, descending_, is_half_;
  Number infinity_;
  Number first_;  ///< the place in ascending order, NaNs with a sign first, of the element with key 0
};

/// Calls f(elements) with a pointer to unsigned numbers of the elements' width.
template <class F>
void with_bits(ElementType type, void* elements, F&& f) {
  switch (type_bits(type)) {
    case 8: return f(static_cast<uint8_t*>(elements));
    case 16: return f(static_cast<uint16_t*>(elements));
    case 32: return f(static_cast<uint32_t*>(elements));
    default: return f(static_cast<uint64_t*>(elements));
  }
}

}  // namespace lowtide::engine
