/// transpose: permutes dimensions.
///   operand T[s] -> T[r], r[k] = s[dimensions[k]]
///   (C1) the operand is an array  (C2) dimensions is a permutation of its dimensions

#include <fmt/format.h>

#include "ops/dimension_roles.h"
#include "ops/dimensions.h"
#include "ops/elementwise.h"
#include "ops/evaluations.h"
#include "ops/strided.h"

namespace lowtide::engine {
namespace {

Result<Shape> infer_transpose(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  if (dimensions.size() != operand.dims.size() || !are_distinct_dims(dimensions, operand.rank())) {
    return broken(instruction, "C2",
                  fmt::format("dimensions {} must be a permutation of the dimensions of {}", to_string(dimensions),
                              to_string_without_layout(operand)));
  }
  Shape result = Shape::array(moved_type(instruction, operand.type), {});
  for (const int64_t d : dimensions) {
    result.dims.push_back(operand.dims[d]);
    if (!operand.dynamic.empty()) result.dynamic.push_back(operand.dynamic[d]);
  }
  return result;
}

Result<Value> eval_transpose(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  LT_ASSIGN_OR_RETURN(const Value operand, convert_elements(operands[0], instruction.shape.type));
  const Dims& extents = instruction.shape.dims;
  const Dims steps = row_major_strides(operand->shape().dims);
  StridedCopy copy{extents, row_major_strides(extents), {}};
  for (const int64_t d : instruction.as<DimensionsAttributes>().dimensions) {
    copy.from_steps.push_back(steps[d]);
  }
  copy_strided(copy, *operand, *result);
  return Value(result);
}

void element_transpose(ElementContext& context, const Instruction& instruction, const Index& index,
                       std::span<NodeId> leaves) {
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  Index from(index.size());
  for (size_t d = 0; d < index.size(); ++d) from[dimensions[d]] = index[d];
  leaves[0] = context.nest.convert(context.element(instruction.operand(0), from), instruction.shape.type);
}

std::vector<OperandDimension> roles_of_transpose(const Instruction& instruction, size_t) {
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  std::vector<OperandDimension> roles(instruction.operand(0).shape.dims.size());
  for (size_t d = 0; d < dimensions.size(); ++d) {
    roles[dimensions[d]] = pointwise(static_cast<int64_t>(d));
  }
  return roles;
}

void reads_of_transpose(OperandReads& reads) { reads.through(reads.evaluations().count, false); }

}  // namespace

const OpRule kTransposeRule{
    .read = read_dimensions,
    .print = print_dimensions,
    .infer = infer_transpose,
    .eval = eval_transpose,
    .element = element_transpose,
    .split = split_operand_dimensions,
    .slicing = sliced_in_step(roles_of_transpose),
    .extents = extents_by_roles,
    .reads = reads_of_transpose,
    .arithmetic = {.plain = 2, .complex = 2, .code = 1, .rounds = Rounds::kNever, .terms = no_sum}};

}  // namespace lowtide::engine
