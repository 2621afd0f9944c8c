/// Conversions between element types, and between values and stored elements.

#include "nest/plain/expand.h"
#include "nest/plain/integers.h"
#include "nest/plain/small_floats.h"

namespace lowtide::engine {

ElementType held_type(ElementType type) {
  if (is_complex(type)) return type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  if (is_small_float(type)) return ElementType::kF32;
  return is_integral(type) ? held_integer(type) : type;
}

ElementType plain_element(ElementType type) {
  if (!is_small_float(type)) return held_type(type);
  return type_bits(type) == 16 ? ElementType::kU16 : ElementType::kU8;
}

PlainValue from_stored(ElementType type, Plain bits) {
  if (!is_small_float(type)) return {type, bits, {}, {}};
  return {type, widened(type, bits), {}, bits};  // a NaN that is only moved keeps its payload
}

Plain to_stored(const PlainValue& value) {
  if (!is_small_float(value.type)) return value.re;
  return value.bits.nest != nullptr ? value.bits : stored(value.type, value.re);
}

namespace {

/// Converts an integer to a small float, rounded once.
Plain small_float_from_integer(ElementType to, Plain value) {
  constexpr int64_t kExact = 1 << 24;  // integers up to here are exact in f32
  const Node& node = value.node();
  if (value.width() <= 16 || (node.least >= -kExact && node.greatest <= kExact)) {
    return rounded(to, float_from_integer(ElementType::kF32, value));
  }
  return rounded(to, rounded_to_odd(float_from_integer(ElementType::kF64, value)));
}

}  // namespace

Plain converted(Plain value, ElementType from, ElementType to) {
  if (from == to) return value;
  if (to == ElementType::kPred) return value != 0.0;
  if (from == ElementType::kPred) {
    const Plain one = value.number(held_type(to), 1.0);
    const Plain number = select(value, one, 0.0);
    if (is_integral(to)) return wrapped(to, number);
    return is_small_float(to) ? rounded(to, number) : number;
  }
  if (is_integral(to)) {
    if (is_floating(from)) return integer_from_float(to, value);
    return wrapped(to, value.to(held_integer(to)));
  }
  if (is_integral(from)) {
    return is_small_float(to) ? small_float_from_integer(to, value) : float_from_integer(to, value);
  }
  if (!is_small_float(to)) return value.to(to);
  return rounded(to, from == ElementType::kF64 ? rounded_to_odd(value) : value);
}

}  // namespace lowtide::engine
