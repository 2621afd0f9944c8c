/// The stored bits and ranges of integers in nests.

#include <cstring>

#include "nest/builder.h"

namespace lowtide::engine {

ElementBits bits_of_integer(ElementType type, int64_t value) {
  ElementBits bits{};
  dispatch(type, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      bits[0] = value != 0;
    } else if constexpr (std::is_convertible_v<int64_t, T>) {
      const T element = static_cast<T>(value);
      std::memcpy(bits.data(), &element, sizeof(T));
    }
  });
  return bits;
}

int64_t integer_of_bits(ElementType type, const ElementBits& bits) {
  return dispatch(type, [&]<class T>() -> int64_t {
    if constexpr (std::is_convertible_v<T, int64_t>) {
      T element{};
      std::memcpy(static_cast<void*>(&element), bits.data(), sizeof(T));
      return static_cast<int64_t>(element);
    } else {
      return 0;
    }
  });
}

Bounds range_of(ElementType type) {
  if (type == ElementType::kPred) return {0, 1};
  const int bits = type_bits(type);
  if (!is_integral(type) || bits == 64) return {INT64_MIN, INT64_MAX};
  if (type_kind(type) == TypeKind::kSigned) return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  return {0, (int64_t{1} << bits) - 1};
}

}  // namespace lowtide::engine
