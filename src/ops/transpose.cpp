/// transpose: permutes dimensions.
///   operand T[s] -> T[r], r[k] = s[dimensions[k]]
///   (C1) the operand is an array  (C2) dimensions is a permutation of its dimensions

#include <fmt/format.h>

#include "ops/dimensions.h"
#include "ops/infer.h"

namespace lowtide {
namespace {

Result<Shape> infer(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  if (dimensions.size() != operand.dims.size() || !are_distinct_dims(dimensions, operand.rank())) {
    return broken(instruction, "C2",
                  fmt::format("dimensions {} must be a permutation of the dimensions of {}", to_string(dimensions),
                              to_string_without_layout(operand)));
  }
  Shape result = Shape::array(operand.type, {});
  for (const int64_t d : dimensions) {
    result.dims.push_back(operand.dims[static_cast<size_t>(d)]);
    if (!operand.dynamic.empty()) result.dynamic.push_back(operand.dynamic[static_cast<size_t>(d)]);
  }
  return result;
}

}  // namespace

const OpRule kTransposeRule{.read = read_dimensions, .print = print_dimensions, .infer = infer};

}  // namespace lowtide
