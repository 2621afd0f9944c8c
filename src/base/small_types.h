#pragma once
/// Number types that C++ lacks: sub-byte integers, bfloat16, IEEE half and the 8- and 4-bit floats (OCP MX and FNUZ).
/// Every type converts to and from a wider one; arithmetic is done there and rounded once on the way back.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace lowtide::engine {

/// Two's complement integer of `Bits` < 8 bits, held in a byte; conversion wraps.
template <int Bits, bool Signed>
struct SmallInt {
  using Held = std::conditional_t<Signed, int8_t, uint8_t>;
  Held held = 0;
  constexpr SmallInt() = default;
  constexpr SmallInt(int64_t value) {  // NOLINT: implicit, as for the built-in integers
    const auto low = static_cast<uint8_t>(static_cast<uint64_t>(value) & ((1u << Bits) - 1));
    held = static_cast<Held>(Signed && (low >> (Bits - 1)) ? static_cast<int>(low) - (1 << Bits) : low);
  }
  constexpr operator int64_t() const { return held; }  // NOLINT
  static constexpr int64_t lowest() { return Signed ? -(int64_t{1} << (Bits - 1)) : 0; }
  static constexpr int64_t highest() { return Signed ? (int64_t{1} << (Bits - 1)) - 1 : (int64_t{1} << Bits) - 1; }
};

/// bfloat16: the upper half of a float, rounded to nearest even.
struct BFloat16 {
  uint16_t bits = 0;
  constexpr BFloat16() = default;
  constexpr BFloat16(float value) {  // NOLINT
    const uint32_t u = std::bit_cast<uint32_t>(value);
    bits = value != value ? static_cast<uint16_t>((u >> 16) | 0x40u)
                          : static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  constexpr operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }  // NOLINT
};

/// How the top exponent of a small float is used.
enum class MiniFloatRange {
  kIeee,          ///< inf and NaN as in IEEE 754
  kNanOnly,       ///< all ones is NaN, no infinity (FN)
  kUnsignedZero,  ///< 0x80 is NaN, no infinity, no minus zero (FNUZ)
  kFinite,        ///< neither NaN nor infinity; conversion saturates
};

/// A float with sign, `E` exponent bits, `M` mantissa bits and the given bias, in the low bits of `Bits`.
/// Conversion from float rounds to nearest even; overflow gives infinity or NaN if the type has one.
template <int E, int M, int Bias, MiniFloatRange Range, class Bits = uint8_t>
struct MiniFloat {
  static constexpr int kWidth = 1 + E + M;
  static constexpr uint32_t kSign = 1u << (E + M);
  static constexpr uint32_t kInfinity = ((1u << E) - 1) << M;  // in the IEEE form
  static constexpr uint32_t kNan = Range == MiniFloatRange::kIeee           ? kInfinity | (1u << (M - 1))
                                   : Range == MiniFloatRange::kUnsignedZero ? kSign
                                                                            : kSign - 1;
  static constexpr uint32_t kLargest = Range == MiniFloatRange::kIeee      ? kInfinity - 1
                                       : Range == MiniFloatRange::kNanOnly ? kSign - 2
                                                                           : kSign - 1;
  Bits bits = 0;
  constexpr MiniFloat() = default;
  MiniFloat(float value) { bits = static_cast<Bits>(encode(value)); }  // NOLINT
  operator float() const { return decode(bits); }                      // NOLINT

  static float decode(uint32_t b) {
    const float sign = (b & kSign) ? -1.0f : 1.0f;
    if constexpr (Range == MiniFloatRange::kUnsignedZero) {
      if (b == kSign) return std::numeric_limits<float>::quiet_NaN();
    }
    const uint32_t magnitude = b & (kSign - 1);
    if constexpr (Range == MiniFloatRange::kIeee) {
      if (magnitude == kInfinity) return sign * std::numeric_limits<float>::infinity();
      if (magnitude > kInfinity) return std::copysign(std::numeric_limits<float>::quiet_NaN(), sign);
    }
    if constexpr (Range == MiniFloatRange::kNanOnly) {
      if (magnitude == kNan) return std::copysign(std::numeric_limits<float>::quiet_NaN(), sign);
    }
    const int exponent = static_cast<int>(magnitude >> M);
    const auto mantissa = static_cast<float>(magnitude & ((1u << M) - 1));
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - Bias - M);
    return sign * std::ldexp(mantissa + static_cast<float>(1u << M), exponent - Bias - M);
  }

  static uint32_t encode(float value) {
    const uint32_t sign = std::signbit(value) ? kSign : 0;
    if (std::isnan(value)) {
      if constexpr (Range == MiniFloatRange::kFinite) return sign;
      if constexpr (Range == MiniFloatRange::kUnsignedZero) return kNan;
      return sign | kNan;
    }
    const uint32_t overflow = Range == MiniFloatRange::kIeee           ? sign | kInfinity
                              : Range == MiniFloatRange::kFinite       ? sign | kLargest
                              : Range == MiniFloatRange::kUnsignedZero ? kNan
                                                                       : sign | kNan;
    if (std::isinf(value)) return overflow;
    const double magnitude = std::fabs(static_cast<double>(value));
    int exponent = 0;
    std::frexp(magnitude, &exponent);                       // magnitude in [2^(exponent-1), 2^exponent)
    const int step = std::max(exponent - 1, 1 - Bias) - M;  // the unit in the last place is 2^step
    const auto units = static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, -step)));
    if (units == 0) return Range == MiniFloatRange::kUnsignedZero ? 0 : sign;
    // `units` has at most M + 1 bits, or is exactly 2^(M+1) after rounding up: addition carries into the exponent.
    const int64_t code = units + (static_cast<int64_t>(step + M + Bias - 1) << M);
    if (code > static_cast<int64_t>(kLargest)) return overflow;
    return sign | static_cast<uint32_t>(code);
  }
};

using Float16 = MiniFloat<5, 10, 15, MiniFloatRange::kIeee, uint16_t>;

/// f8e8m0fnu: a power of two, 2^(bits-127); 255 is NaN. Scale factor of the MX formats.
struct ScaleFloat {
  uint8_t bits = 0;
  constexpr ScaleFloat() = default;
  ScaleFloat(float value) {  // NOLINT
    // The nearest power, up from the middle of two; 0 gives NaN. Uses the bits, as threads may treat denormals as
    // zeros.
    const uint32_t pattern = std::bit_cast<uint32_t>(value);
    const bool is_positive = pattern != 0 && pattern < 0x7f800000;
    bits = is_positive ? static_cast<uint8_t>((pattern + (pattern < 0x800000 ? 0x200000 : 0x400000)) >> 23) : 255;
  }
  operator float() const {  // NOLINT
    if (bits == 255) return std::numeric_limits<float>::quiet_NaN();
    return std::bit_cast<float>(bits == 0 ? uint32_t{0x400000} : uint32_t{bits} << 23);
  }
};

}  // namespace lowtide::engine
