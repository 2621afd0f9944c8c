#include "nest/plain/small_floats.h"

namespace lowtide::engine {
namespace {

constexpr ElementType kF32 = ElementType::kF32, kU32 = ElementType::kU32, kS32 = ElementType::kS32;

/// The format of a float of sign, exponent and mantissa in a byte: the constants of MiniFloat (base/small_types.h).
struct Format {
  int exponent, mantissa, bias;
  MiniFloatRange range;
  uint32_t sign, infinity, nan, largest;
};

template <int E, int M, int Bias, MiniFloatRange Range, class Bits>
Format format_of(MiniFloat<E, M, Bias, Range, Bits>) {
  using T = MiniFloat<E, M, Bias, Range, Bits>;
  return {E, M, Bias, Range, T::kSign, T::kInfinity, T::kNan, T::kLargest};
}
Format format_of(ElementType type) {
  return dispatch(type, []<class T>() -> Format {
    if constexpr (requires { T::kLargest; }) return format_of(T{});
    LT_ASSERT(false, "a float of one byte was expected");
    return {};
  });
}

double value_of(ElementType type, uint32_t code) {
  return dispatch(type, [code]<class T>() -> double {
    if constexpr (requires { T::decode(code); }) return T::decode(code);
    return 0;
  });
}

Plain widened_brain(Plain bits) { return (bits.to(kU32) << 16).as(kF32); }

Plain rounded_brain(Plain x) {
  const Plain bits = x.as(kU32);
  const Plain even = bits + 0x7fff + (shift_right_logical(bits, 16) & 1);
  const Plain result = select(is_nan(x), bits | 0x400000, even);
  return (result & int64_t{0xffff0000}).as(kF32);
}

/// Is this of the form of what rounded_brain makes? Rounding it again would at most make a signalling NaN quiet.
bool is_rounded_brain(Plain x) {
  if (x.node().kind != NodeKind::kOperation || x.node().opcode != Opcode::kBitcastConvert) return false;
  const Plain bits = x.with(x.node().operands[0]);
  if (bits.node().kind != NodeKind::kOperation || bits.node().opcode != Opcode::kAnd) return false;
  return bits.nest->known_integer(bits.node().operands[1]) == int64_t{0xffff0000};
}

Plain widened_mini(const Format& format, Plain code) {
  const Plain bits = code.to(kS32);
  const auto mask = static_cast<int64_t>(format.sign - 1);
  const Plain magnitude = bits & mask;
  const Plain normal = ((magnitude << (23 - format.mantissa)) + ((127 - format.bias) << 23)).as(kF32);
  const Plain denormal = magnitude.to(kF32) * std::ldexp(1.0, 1 - format.bias - format.mantissa);
  Plain value = select(magnitude < (1 << format.mantissa), denormal, normal);
  if (format.range == MiniFloatRange::kIeee) {
    const Plain special = select(magnitude == static_cast<int64_t>(format.infinity), value.constant(infinity()),
                                 value.constant(not_a_number()));
    value = select(magnitude >= static_cast<int64_t>(format.infinity), special, value);
  } else if (format.range == MiniFloatRange::kNanOnly) {
    value = select(magnitude == static_cast<int64_t>(format.nan), not_a_number(), value);
  }
  const Plain sign = (bits & static_cast<int64_t>(format.sign)) << (31 - format.exponent - format.mantissa);
  value = (value.as(kS32) | sign).as(kF32);
  if (format.range == MiniFloatRange::kUnsignedZero) {
    value = select(bits == static_cast<int64_t>(format.nan), not_a_number(), value);
  }
  return value;
}

Plain rounded_mini(ElementType type, const Format& format, Plain x) {
  const double largest = value_of(type, format.largest);
  const Plain magnitude = absolute(x);
  const Plain bounded = select(magnitude > 4 * largest, 4 * largest, magnitude);
  // Adding 3/2 of the power of two whose last place is x's last place in this format rounds to nearest even.
  const Plain exponent = bounded.as(kS32) & 0x7f800000;
  const int64_t least = static_cast<int64_t>(128 - format.bias) << 23;
  const Plain power = larger(exponent, exponent.integer(least)) + (((23 - format.mantissa) << 23) + 0x400000);
  const Plain shift = power.as(kF32);
  const Plain near = (bounded + shift) - shift;
  const double beyond = format.range == MiniFloatRange::kIeee     ? infinity()
                        : format.range == MiniFloatRange::kFinite ? largest
                                                                  : not_a_number();
  Plain result = select(near > largest, beyond, near);
  if (format.range == MiniFloatRange::kFinite) result = select(is_nan(x), 0.0, result);
  const Plain with_sign = with_sign_of(result, x);
  return format.range == MiniFloatRange::kUnsignedZero ? select(result == 0.0, 0.0, with_sign) : with_sign;
}

Plain stored_mini(const Format& format, Plain x) {
  const Plain magnitude = absolute(x);
  const Plain bits = magnitude.as(kS32);
  const Plain normal = shift_right_logical(bits, 23 - format.mantissa) - ((127 - format.bias) << format.mantissa);
  const Plain denormal = (magnitude * std::ldexp(1.0, format.mantissa + format.bias - 1)).to(kS32);
  Plain code = select(magnitude < std::ldexp(1.0, 1 - format.bias), denormal, normal);
  if (format.range == MiniFloatRange::kIeee) {
    code = select(magnitude == infinity(), static_cast<int64_t>(format.infinity), code);
  }
  if (format.range != MiniFloatRange::kFinite) code = select(is_nan(x), static_cast<int64_t>(format.nan), code);
  const Plain sign =
      shift_right_logical(x.as(kS32), 31 - format.exponent - format.mantissa) & static_cast<int64_t>(format.sign);
  Plain result = code | sign;
  if (format.range == MiniFloatRange::kUnsignedZero) {
    result = select(is_nan(x), static_cast<int64_t>(format.nan), result);
  }
  return result.to(ElementType::kU8);
}

/// 2^(code - 127); 255 is NaN.
Plain widened_scale(Plain code) {
  const Plain bits = code.to(kS32);
  const Plain power = select(bits == 0, 0x400000, bits << 23).as(kF32);
  return select(bits == 255, not_a_number(), power);
}

/// Rounds to the nearest power of two, up from the middle of two; 0 gives NaN.
Plain rounded_scale(Plain x) {
  const Plain power = ((x.as(kS32) + 0x400000) & 0x7f800000).as(kF32);
  const Plain bounded = select(power > 0x1p127, not_a_number(), power);
  const Plain small = select(x >= 0.75 * 0x1p-126, x.constant(0x1p-126), 0x1p-127);
  const Plain result = select(x < 0x1p-126, small, bounded);
  const Plain positive = (x > 0.0) & (x < infinity());
  return select(positive, result, not_a_number());
}

}  // namespace

Plain widened(ElementType type, Plain bits) {
  switch (type) {
    case ElementType::kF16: return bits.as(ElementType::kF16).to(kF32);
    case ElementType::kBF16: return widened_brain(bits);
    case ElementType::kF8E8M0FNU: return widened_scale(bits);
    default: return widened_mini(format_of(type), bits);
  }
}

namespace {

/// Rounding keeps order, so bounds are rounded like values.
template <class T>
void declare_rounded(FloatFacts facts, Plain result) {
  facts.may_be_minus_zero = facts.may_be_minus_zero || facts.least < 0;
  facts.least = static_cast<float>(T(static_cast<float>(facts.least)));
  facts.greatest = static_cast<float>(T(static_cast<float>(facts.greatest)));
  facts.grid = INT_MIN;
  result.nest->declare(result.id, facts);
}

/// Is every possible value already representable in the type?
bool is_representable(ElementType type, const FloatFacts& facts) {
  switch (type) {
    case ElementType::kF16: return facts.fits(11) && facts.grid >= -24 && facts.size() <= 65504;
    case ElementType::kBF16: return facts.fits(8) && facts.grid >= -133 && facts.size() <= 0x1.fep127;
    case ElementType::kF8E8M0FNU: return false;
    default: break;
  }
  const Format format = format_of(type);
  return facts.fits(format.mantissa + 1) && facts.grid >= 1 - format.bias - format.mantissa &&
         facts.size() <= value_of(type, format.largest) &&
         (format.range != MiniFloatRange::kUnsignedZero || !facts.may_be_minus_zero);
}

}  // namespace

Plain rounded(ElementType type, Plain wide) {
  const FloatFacts facts = wide.nest->facts(wide.id);
  if (is_representable(type, facts)) return wide;
  switch (type) {
    case ElementType::kF16: {
      const Plain result = wide.to(ElementType::kF16).to(kF32);
      declare_rounded<Float16>(facts, result);
      return result;
    }
    case ElementType::kBF16: {
      if (is_rounded_brain(wide)) return wide;
      const Plain result = rounded_brain(wide);
      declare_rounded<BFloat16>(facts, result);
      return result;
    }
    case ElementType::kF8E8M0FNU: return rounded_scale(wide);
    default: return rounded_mini(type, format_of(type), wide);
  }
}

Plain stored(ElementType type, Plain wide) {
  const Node& node = wide.node();
  switch (type) {
    case ElementType::kF16:
      // A value that was widened from f16 is still available.
      if (node.opcode == Opcode::kConvert && wide.with(node.operands[0]).type() == ElementType::kF16) {
        return wide.with(node.operands[0]).as(ElementType::kU16);
      }
      return wide.to(ElementType::kF16).as(ElementType::kU16);
    case ElementType::kBF16: return shift_right_logical(wide.as(kU32), 16).to(ElementType::kU16);
    case ElementType::kF8E8M0FNU:
      return select(is_nan(wide), 255, shift_right_logical(wide.as(kS32), 23)).to(ElementType::kU8);
    default: return stored_mini(format_of(type), wide);
  }
}

Plain rounded_to_odd(Plain x) {
  const Plain nearest = x.to(kF32);
  const Plain back = nearest.to(ElementType::kF64);
  const Plain bits = nearest.as(kS32);
  const Plain toward_zero = select(absolute(back) > absolute(x), bits - 1, bits);
  const Plain exact = (back == x) | is_nan(x) | (absolute(nearest) == infinity());
  return select(exact, nearest, (toward_zero | 1).as(kF32));
}

}  // namespace lowtide::engine
