/// convert: converts each element to another type.
///   operand T[s] -> U[s], U is declared
///   Floats round to nearest even; converted to integers they are truncated and saturate, and NaN gives 0; integers
///   wrap; predicates are "not equal to zero"; real to complex has imaginary part zero; complex to real drops it.
///   (C1) operand and result are arrays

#include "ops/elementwise.h"

namespace lowtide::engine {
namespace {

Result<Shape> infer_conversion(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  LT_RETURN_IF_ERROR(check_declared(instruction, "C1", kAnything));
  return with_type(instruction.operand(0).shape, instruction.shape.type);
}

/// Rounds so that rounding again, to a type with at least two bits less, gives the same as rounding once: an inexact
/// result gets an odd last bit.
float round_to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || std::isnan(x) || std::isinf(nearest)) return nearest;
  const float toward_zero = std::fabs(nearest) > std::fabs(x) ? std::nextafter(nearest, 0.0f) : nearest;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(toward_zero) | 1u);
}

/// x as a number of type To, for elements of `type`.
template <class To, class From>
To convert_number(From x, ElementType type) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (is_complex_v<From> && !is_complex_v<To>) {
    return convert_number<To>(x.real(), type);
  } else if constexpr (is_complex_v<From>) {
    using R = typename To::value_type;
    return To(static_cast<R>(x.real()), static_cast<R>(x.imag()));
  } else if constexpr (is_complex_v<To>) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{0};
  } else if constexpr (std::is_same_v<To, float> && (std::is_same_v<From, double> || std::is_integral_v<From>)) {
    return type == ElementType::kF32 ? static_cast<float>(x) : round_to_odd(static_cast<double>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    const int bits = type_bits(type);
    const int digits = std::is_signed_v<To> ? bits - 1 : bits;
    const double beyond = std::ldexp(1.0, digits);  // one more than the largest integer
    const To highest = static_cast<To>(digits == 0 ? 0 : ~uint64_t{0} >> (64 - digits));
    const To lowest = std::is_signed_v<To> ? static_cast<To>(~static_cast<uint64_t>(highest)) : To{0};
    if (std::isnan(x)) return 0;
    if (static_cast<double>(x) >= beyond) return highest;
    if (static_cast<double>(x) <= (std::is_signed_v<To> ? -beyond : 0.0)) return lowest;
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

Result<Value> eval_conversion(const Instruction& instruction, Operands operands, EvalContext&) {
  return convert_elements(operands[0], instruction.shape.type);
}

void element_conversion(ElementContext& context, const Instruction& instruction, const Index& index,
                        std::span<NodeId> leaves) {
  leaves[0] = context.nest.convert(context.element(instruction.operand(0), index), instruction.shape.type);
}

}  // namespace

Result<Value> convert_elements(const Value& value, ElementType type) {
  const ElementType from = value->shape().type;
  if (from == type) return value;
  const Shape shape = with_type(value->shape(), type);
  return dispatch_computed(from, [&]<class From>() {
    return dispatch_computed<kAnything>(type, [&]<class To>() {
      return map_numbers<From, To>(shape, [type](From x) { return convert_number<To>(x, type); }, *value);
    });
  });
}

const OpRule kConvertRule{.infer = infer_conversion,
                          .eval = eval_conversion,
                          .element = element_conversion,
                          .split = split_by_element,
                          .slicing = kSlicedByElement,
                          .extents = extents_by_roles,
                          .reads = reads_by_element,
                          .arithmetic = kOneOperation};

}  // namespace lowtide::engine
