/// reverse: turns dimensions round.
///   operand T[s] -> T[s], index s[d]-1-i along every d in dimensions
///   (C1) the operand is an array  (C2) dimensions are distinct dimensions of it

#include <fmt/format.h>

#include "ops/dimensions.h"
#include "ops/elementwise.h"

namespace lowtide {
namespace {

Result<Shape> infer(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  if (!are_distinct_dims(dimensions, operand.rank())) {
    return broken(instruction, "C2",
                  fmt::format("dimensions {} must be distinct dimensions of {}", to_string(dimensions),
                              to_string_without_layout(operand)));
  }
  return with_type(operand, operand.type);
}

}  // namespace

const OpRule kReverseRule{.read = read_dimensions, .print = print_dimensions, .infer = infer};

}  // namespace lowtide
