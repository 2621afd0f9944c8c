#include "nest/plain/reinterpret.h"

#include <bit>

#include "nest/plain/integers.h"
#include "nest/plain/small_floats.h"

namespace lowtide::engine {
namespace {

/// The bits of a real value as an unsigned integer of the type's width, or of a byte.
Plain bits_of_value(const PlainValue& value) {
  if (value.type == ElementType::kPred) return converted(value.re, value.type, ElementType::kU8);
  if (is_complex(value.type)) {
    const ElementType wide = ElementType::kU64;
    return (value.im.as(ElementType::kU32).to(wide) << 32) | value.re.as(ElementType::kU32).to(wide);
  }
  const Plain bits = to_stored(value);
  const Plain natural = bits.as(unsigned_like(bits.type()));
  return type_bits(value.type) < 8 ? natural & ((1 << type_bits(value.type)) - 1) : natural;
}

int exponent_bits_of(ElementType type) {
  return dispatch(type, []<class T>() {
    int bits = std::is_same_v<T, double> ? 11 : 8;
    if constexpr (requires { T::kInfinity; }) bits = std::popcount(T::kInfinity);
    return bits;
  });
}

/// The number of the type next to `number` (f64), farther from zero or nearer.
Plain neighbour(ElementType type, Plain number, int64_t step) {
  if (type == ElementType::kF64) return (bits_of(number) + step).as(type);
  const Plain narrow = number.to(ElementType::kF32);
  if (type == ElementType::kF32) return (bits_of(narrow) + step).as(type).to(ElementType::kF64);
  const Plain code = stored(type, narrow);
  return widened(type, code + step).to(ElementType::kF64);
}

}  // namespace

PlainValue reinterpreted(const PlainValue& value, ElementType type) {
  if (value.type == type) return value;
  const Plain bits = bits_of_value(value);
  if (is_complex(type)) {
    const Plain low = bits.to(ElementType::kU32), high = shift_right_logical(bits, 32).to(ElementType::kU32);
    return {type, low.as(ElementType::kF32), high.as(ElementType::kF32), {}};
  }
  if (type == ElementType::kPred) return {type, bits != 0, {}, {}};
  if (is_small_float(type)) return from_stored(type, bits);
  if (is_integral(type)) return {type, wrapped(type, bits), {}, {}};
  return {type, bits.as(type), {}, {}};
}

Plain with_fewer_bits(const PlainValue& value, ReducePrecisionAttributes how) {
  const Plain x = value.re;
  const bool narrow = x.width() == 32;
  const int mantissa = narrow ? 23 : 52, exponent = narrow ? 8 : 11;
  Plain bits = bits_of(x);
  if (how.mantissa_bits < mantissa) {
    const auto dropped = mantissa - how.mantissa_bits;
    const int64_t unit = int64_t{1} << dropped;
    bits = bits + ((unit >> 1) - 1) + (shift_right_logical(bits, dropped) & 1);
    bits = bits & ~(unit - 1);
  }
  // The type's own range is kept, denormals included.
  if (how.exponent_bits < exponent && how.exponent_bits < exponent_bits_of(value.type)) {
    const int64_t sign = narrow ? INT32_MIN : INT64_MIN;
    const int64_t bias = (int64_t{1} << (exponent - 1)) - 1, reduced = (int64_t{1} << (how.exponent_bits - 1)) - 1;
    const Plain signs = bits & sign;
    const Plain field = shift_right_logical(bits & ~sign, mantissa);
    const Plain infinite = signs | (((int64_t{1} << exponent) - 1) << mantissa);
    bits = select(field > bias + reduced, infinite, select(field <= bias - reduced, signs, bits));
  }
  const Plain result = select(is_nan(x), x, bits.as(x.type()));
  return is_small_float(value.type) ? rounded(value.type, result) : result;
}

Plain rounded_by_chance(const PlainValue& value, const PlainValue& random, ElementType type) {
  const ElementType f64 = ElementType::kF64;
  const Plain x = value.re.to(f64), magnitude = absolute(x);
  const double range = std::ldexp(1.0, type_bits(random.type));
  const Plain chance = float_from_integer(f64, random.re) * (1 / range);
  const bool whole = is_integral(type);
  Plain nearest = x;
  if (whole) {
    nearest = with_sign_of(magnitude.apply(Opcode::kFloor), x);
  } else if (type != f64) {
    nearest = converted(x.to(ElementType::kF32), ElementType::kF32, type).to(f64);
  }
  const Plain settled = (nearest == x) | !(absolute(nearest) < infinity());
  Plain near = nearest;
  if (!whole) near = select(absolute(near) > magnitude, neighbour(type, near, -1), near);
  const Plain unit = with_sign_of(x.constant(1.0), x);
  const Plain far = whole ? near + unit : neighbour(type, with_sign_of(near, x), 1);
  const Plain result = select(settled, nearest, select(chance < (x - near) / (far - near), far, near));
  return converted(result, f64, type);
}

}  // namespace lowtide::engine
