/// reduce-precision: rounds floats as if they had fewer bits; their type stays the same.
///   operand T[s] -> T[s]
///   (C1) an array of floats  (C2) exponent_bits >= 1  (C3) mantissa_bits >= 0
///
/// stochastic-convert: rounds floats to a narrower type, randomly up or down.
///   operand T[s], random U[s] -> V[s], V is declared
///   (C1) an array of floats and one of unsigned integers  (C2) equal extents  (C3) T and U have equally many bits

#include <fmt/format.h>

#include <bit>

#include "ops/elementwise.h"

namespace lowtide::engine {
namespace {

Status read_reduce_precision(AttributeReader& reader, Instruction& instruction) {
  ReducePrecisionAttributes bits;
  LT_ASSIGN_OR_RETURN(bits.exponent_bits, reader.take_integer("exponent_bits"));
  LT_ASSIGN_OR_RETURN(bits.mantissa_bits, reader.take_integer("mantissa_bits"));
  instruction.attributes = bits;
  return {};
}

void print_reduce_precision(const Instruction& instruction, AttributeWriter& writer) {
  const auto& bits = instruction.as<ReducePrecisionAttributes>();
  writer.integer("exponent_bits", bits.exponent_bits);
  writer.integer("mantissa_bits", bits.mantissa_bits);
}

Result<Shape> infer_precision(const Instruction& instruction) {
  const auto& bits = instruction.as<ReducePrecisionAttributes>();
  LT_ASSIGN_OR_RETURN(Shape result, infer_unary(instruction, kFloats));
  if (bits.exponent_bits < 1) {
    return broken(instruction, "C2", fmt::format("exponent_bits must be at least 1, got {}", bits.exponent_bits));
  }
  if (bits.mantissa_bits < 0) {
    return broken(instruction, "C3", fmt::format("mantissa_bits must not be negative, got {}", bits.mantissa_bits));
  }
  return result;
}

Result<Shape> infer_stochastic(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 2, kFloats | kUnsignedIntegers));
  LT_RETURN_IF_ERROR(check_declared(instruction, "C1", kFloats | kIntegers));
  const Shape& operand = instruction.operand(0).shape;
  const Shape& random = instruction.operand(1).shape;
  if (!is_floating(operand.type) || !(kind_of(random.type) & kUnsignedIntegers)) {
    return broken(instruction, "C1", "expects floats and unsigned integers");
  }
  if (!same_extents(operand, random)) {
    return broken(instruction, "C2",
                  fmt::format("operands must have equal extents, got {} and {}", to_string_without_layout(operand),
                              to_string_without_layout(random)));
  }
  if (type_bits(operand.type) != type_bits(random.type)) {
    return broken(instruction, "C3",
                  fmt::format("operands must have equally many bits, got {} and {}", type_name(operand.type),
                              type_name(random.type)));
  }
  return with_type(operand, instruction.shape.type);
}

int exponent_bits_of(ElementType type) {
  return dispatch(type, []<class T>() {
    int bits = std::is_same_v<T, double> ? 11 : 8;
    if constexpr (requires { T::kInfinity; }) bits = std::popcount(T::kInfinity);
    return bits;
  });
}

/// Rounds the mantissa of x to nearest even, then replaces numbers beyond the exponent's range by infinity or zero.
template <class C>
C with_fewer_bits(C x, int64_t exponent_bits, int64_t mantissa_bits) {
  using U = std::conditional_t<std::is_same_v<C, float>, uint32_t, uint64_t>;
  constexpr int kMantissa = std::is_same_v<C, float> ? 23 : 52;
  constexpr int kExponent = std::is_same_v<C, float> ? 8 : 11;
  if (std::isnan(x)) return x;
  U bits = std::bit_cast<U>(x);
  if (mantissa_bits < kMantissa) {
    const int dropped = kMantissa - static_cast<int>(mantissa_bits);
    const U unit = U{1} << dropped;
    bits += (unit >> 1) - 1 + ((bits >> dropped) & 1);
    bits &= ~(unit - 1);
  }
  if (exponent_bits < kExponent) {
    const U sign = bits & (U{1} << (kMantissa + kExponent));
    const int bias = (1 << (kExponent - 1)) - 1;
    const int reduced_bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>((bits ^ sign) >> kMantissa);
    if (exponent > bias + reduced_bias) {
      bits = sign | (((U{1} << kExponent) - 1) << kMantissa);
    } else if (exponent <= bias - reduced_bias) {
      bits = sign;
    }
  }
  return std::bit_cast<C>(bits);
}

Result<Value> eval_precision(const Instruction& instruction, Operands operands, EvalContext&) {
  const auto [exponent, mantissa] = instruction.as<ReducePrecisionAttributes>();
  const ElementType type = operands[0]->shape().type;
  // With at least the type's own exponent bits, its range is kept, denormals included.
  const bool all = exponent >= exponent_bits_of(type);
  const auto reduce_numbers = [&, exponent = all ? 64 : exponent, mantissa = mantissa]<class C>() {
    const auto reduce = [=](C x) { return with_fewer_bits(x, exponent, mantissa); };
    return map_numbers<C, C>(with_type(instruction.shape, type), reduce, *operands[0]);
  };
  LT_ASSIGN_OR_RETURN(const Value reduced, dispatch_computed<kFloats>(type, reduce_numbers));
  return convert_elements(reduced, instruction.shape.type);
}

/// The next number of type T farther from zero (or nearer to zero) than `number`, which is a T.
template <class T>
double neighbour(double number, bool farther) {
  if constexpr (requires(T t) { t.bits; }) {
    T next = static_cast<float>(number);
    next.bits = static_cast<decltype(next.bits)>(next.bits + (farther ? 1 : -1));
    return static_cast<float>(next);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::nextafter(static_cast<T>(number),
                          farther ? std::copysign(std::numeric_limits<T>::infinity(), static_cast<T>(number)) : T{0});
  } else {
    return number + std::copysign(farther ? 1 : -1, number);
  }
}

/// Rounds x to one of the two neighbouring numbers of type T, to the one farther from zero with the probability that
/// makes x the mean. `chance` is uniform in [0, 1).
template <class T>
double round_by_chance(double x, double chance) {
  double near = std::trunc(x);
  if constexpr (!std::is_integral_v<computed_t<T>>) near = static_cast<double>(static_cast<T>(static_cast<float>(x)));
  if (!std::isfinite(near) || near == x) return near;
  if (std::fabs(near) > std::fabs(x)) near = neighbour<T>(near, false);
  const double far = neighbour<T>(std::copysign(near, x), true);
  return chance < (x - near) / (far - near) ? far : near;
}

Result<Value> eval_stochastic(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> rounded,
                      new_array(with_type(instruction.shape, ElementType::kF64)));
  const double range = std::ldexp(1.0, type_bits(operands[1]->shape().type));
  dispatch(instruction.shape.type, [&]<class T>() {
    if constexpr (!is_complex_v<T>) {
      const std::span<double> to = rounded->data<double>();
      for (size_t i = 0; i < to.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        to[i] = round_by_chance<T>(number_at(*operands[0], at), number_at(*operands[1], at) / range);
      }
    }
  });
  return convert_elements(rounded, instruction.shape.type);
}

void element_precision(ElementContext& context, const Instruction& instruction, const Index& index,
                       std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const NodeId value = context.element(instruction.operand(0), index);
  const NodeId reduced = nest.reduce_precision(value, instruction.as<ReducePrecisionAttributes>());
  leaves[0] = nest.convert(reduced, instruction.shape.type);
}

void element_stochastic(ElementContext& context, const Instruction& instruction, const Index& index,
                        std::span<NodeId> leaves) {
  const NodeId value = context.element(instruction.operand(0), index);
  const NodeId random = context.element(instruction.operand(1), index);
  leaves[0] = context.nest.operation(Opcode::kStochasticConvert, instruction.shape.type, {value, random});
}

}  // namespace

const OpRule kReducePrecisionRule{.read = read_reduce_precision,
                                  .print = print_reduce_precision,
                                  .infer = infer_precision,
                                  .eval = eval_precision,
                                  .element = element_precision,
                                  .split = split_by_element,
                                  .slicing = kSlicedByElement,
                                  .extents = extents_by_roles,
                                  .reads = reads_by_element,
                                  .arithmetic = kOneOperation};
const OpRule kStochasticConvertRule{.infer = infer_stochastic,
                                    .eval = eval_stochastic,
                                    .element = element_stochastic,
                                    .split = split_by_element,
                                    .slicing = kSlicedByElement,
                                    .extents = extents_by_roles,
                                    .reads = reads_by_element,
                                    .arithmetic = kOneRounding};

}  // namespace lowtide::engine
