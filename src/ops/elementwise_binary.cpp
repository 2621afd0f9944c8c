/// Elementwise operations with two operands of one type; elementwise.h states their constraints.

#include "ops/arithmetic.h"
#include "ops/elementwise.h"
#include "ops/functions.h"

namespace lowtide::engine {
namespace {

struct Power {
  template <class C>
  C operator()(C x, C y) const {
    if constexpr (is_complex_v<C>) {
      return C(power(Wide<C>(x), Wide<C>(y)));
    } else if constexpr (std::is_floating_point_v<C>) {
      return static_cast<C>(power(static_cast<double>(x), static_cast<double>(y)));
    } else {
      if (y < C{0}) {  // the reciprocal of an integer, truncated
        const bool odd = y & 1;
        return x == C{1} ? C{1} : x == static_cast<C>(-1) ? (odd ? x : C{1}) : C{0};
      }
      auto rest = static_cast<uint64_t>(y), square = static_cast<uint64_t>(x), result = uint64_t{1};
      for (; rest != 0; rest >>= 1, square *= square) {
        if (rest & 1) result *= square;
      }
      return static_cast<C>(result);
    }
  }
};

/// The upper half of a product of two 64-bit natural numbers.
uint64_t high_half(uint64_t a, uint64_t b) {
  const uint64_t low = 0xffffffff;
  const uint64_t cross = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
  const uint64_t other = (a & low) * (b >> 32) + (cross & low);
  return (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32);
}

/// The upper `width` bits of the product of 2 * `width` bits.
struct HighHalf {
  template <class C>
  C operator()(C a, C b, int width) const {
    if (width <= 32) return (a * b) >> width;
    auto high = high_half(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
    if (a < C{0}) high -= static_cast<uint64_t>(b);
    if (b < C{0}) high -= static_cast<uint64_t>(a);
    return static_cast<C>(high);
  }
};

/// Is a shift count at least the width? Counts are unsigned, so a negative one is very large.
template <class C>
bool beyond(C count, int width) {
  return static_cast<uint64_t>(count) >= static_cast<uint64_t>(width);
}

struct ShiftLeft {
  template <class C>
  C operator()(C x, C count, int width) const {
    return beyond(count, width) ? C{0} : static_cast<C>(static_cast<uint64_t>(x) << count);
  }
};

struct ShiftRightArithmetic {
  template <class C>
  C operator()(C x, C count, int width) const {
    const int up = 64 - width;  // the highest bit of an unsigned number is treated as its sign
    const auto value = static_cast<int64_t>(static_cast<uint64_t>(x) << up) >> up;
    return static_cast<C>(beyond(count, width) ? (value < 0 ? -1 : 0) : value >> count);
  }
};

struct ShiftRightLogical {
  template <class C>
  C operator()(C x, C count, int width) const {
    if (beyond(count, width)) return C{0};
    const int up = 64 - width;
    return static_cast<C>((static_cast<uint64_t>(x) << up >> up) >> count);
  }
};

}  // namespace

const OpRule kAddRule = binary<kAnything>(Add{}, kOneRounding);
const OpRule kAndRule = binary<kBits>(And{}, kOneOperation);
const OpRule kDivideRule = binary<kNumbers>(Divide{}, rounding(5, 250, 1));
const OpRule kMaximumRule = binary<kAnything>(Maximum{}, kOneOperation);
const OpRule kMinimumRule = binary<kAnything>(Minimum{}, kOneOperation);
const OpRule kMulhiRule = binary<kIntegers>(HighHalf{}, kOneOperation);
const OpRule kMultiplyRule = binary<kAnything>(Multiply{}, rounding(1, 3, 1));
const OpRule kOrRule = binary<kBits>(Or{}, kOneOperation);
const OpRule kPowerRule = binary<kNumbers>(Power{}, rounding(30, 1000, 6));
const OpRule kRemainderRule = binary<kReals>(Remainder{}, rounding(5, 5, 1));
const OpRule kShiftLeftRule = binary<kIntegers>(ShiftLeft{}, kOneOperation);
const OpRule kShiftRightArithmeticRule = binary<kIntegers>(ShiftRightArithmetic{}, kOneOperation);
const OpRule kShiftRightLogicalRule = binary<kIntegers>(ShiftRightLogical{}, kOneOperation);
const OpRule kSubtractRule = binary<kNumbers>(Subtract{}, kOneRounding);
const OpRule kXorRule = binary<kBits>(Xor{}, kOneOperation);

}  // namespace lowtide::engine
