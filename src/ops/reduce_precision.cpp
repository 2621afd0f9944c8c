/// reduce-precision: floats rounded as if they had fewer bits, held in their own type.
///   operand T[s] -> T[s]
///   (C1) an array of floats  (C2) exponent_bits >= 1  (C3) mantissa_bits >= 0
///
/// stochastic-convert: floats rounded to a narrower type, up or down by chance.
///   operand T[s], random U[s] -> V[s], V is declared
///   (C1) an array of floats and one of unsigned integers  (C2) equal extents  (C3) T and U have equally many bits

#include <fmt/format.h>

#include "ops/elementwise.h"

namespace lowtide {
namespace {

Status read(AttributeReader& reader, Instruction& instruction) {
  ReducePrecisionAttributes bits;
  LT_ASSIGN_OR_RETURN(bits.exponent_bits, reader.take_integer("exponent_bits"));
  LT_ASSIGN_OR_RETURN(bits.mantissa_bits, reader.take_integer("mantissa_bits"));
  instruction.attributes = bits;
  return {};
}

void print(const Instruction& instruction, AttributeWriter& writer) {
  const auto& bits = instruction.as<ReducePrecisionAttributes>();
  writer.integer("exponent_bits", bits.exponent_bits);
  writer.integer("mantissa_bits", bits.mantissa_bits);
}

Result<Shape> infer_reduce(const Instruction& instruction) {
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

}  // namespace

const OpRule kReducePrecisionRule{.read = read, .print = print, .infer = infer_reduce};
const OpRule kStochasticConvertRule{.infer = infer_stochastic};

}  // namespace lowtide
