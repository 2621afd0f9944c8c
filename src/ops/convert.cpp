/// convert: each element as the nearest one of another type.
///   operand T[s] -> U[s], U is declared
///   Floats round to nearest even; to integers they are cut and saturate, NaN gives 0; integers wrap; to predicates:
///   not equal to zero; real to complex: no imaginary part. (C1) operand and result are arrays; complex numbers convert
///   to complex numbers only

#include "ops/elementwise.h"

#include <fmt/format.h>

namespace lowtide {
namespace {

Result<Shape> infer(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  LT_RETURN_IF_ERROR(check_declared(instruction, "C1", kAnything));
  const Shape& operand = instruction.operand(0).shape;
  if (is_complex(operand.type) && !is_complex(instruction.shape.type)) {
    return broken(instruction, "C1",
                  fmt::format("{} does not convert to {}", type_name(operand.type), type_name(instruction.shape.type)));
  }
  return with_type(operand, instruction.shape.type);
}

}  // namespace

const OpRule kConvertRule{.infer = infer};

}  // namespace lowtide
