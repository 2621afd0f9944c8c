/// reverse: reverses the order of elements along dimensions.
///   operand T[s] -> T[s], element i is the operand's element s[d]-1-i along every d in dimensions
///   (C1) the operand is an array  (C2) dimensions are distinct dimensions of it

#include <fmt/format.h>

#include "ops/dimension_roles.h"
#include "ops/dimensions.h"
#include "ops/elementwise.h"
#include "ops/extents.h"
#include "ops/strided.h"

namespace lowtide::engine {
namespace {

Result<Shape> infer_reverse(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  if (!are_distinct_dims(dimensions, operand.rank())) {
    return broken(instruction, "C2",
                  fmt::format("dimensions {} must be distinct dimensions of {}", to_string(dimensions),
                              to_string_without_layout(operand)));
  }
  return with_type(operand, moved_type(instruction, operand.type));
}

Result<Value> eval_reverse(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  LT_ASSIGN_OR_RETURN(const Value operand, convert_elements(operands[0], instruction.shape.type));
  const Dims& extents = instruction.shape.dims;
  const Dims steps = row_major_strides(extents);
  StridedCopy copy{extents, steps, steps};
  for (const int64_t d : instruction.as<DimensionsAttributes>().dimensions) {
    const auto k = static_cast<size_t>(d);
    copy.from_start += (extents[k] - 1) * steps[k];
    copy.from_steps[k] = -steps[k];
  }
  copy_strided(copy, *operand, *result);
  return Value(result);
}

void element_reverse(ElementContext& context, const Instruction& instruction, const Index& index,
                     std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  Index from = index;
  for (const int64_t d : instruction.as<DimensionsAttributes>().dimensions) {
    const auto k = static_cast<size_t>(d);
    from[k] = nest.plus(nest.times(index[k], -1), NestBuilder::fixed(instruction.shape.dims[k] - 1));
  }
  leaves[0] = nest.convert(context.element(instruction.operand(0), from), instruction.shape.type);
}

std::vector<OperandDimension> roles_of_reverse(const Instruction& instruction, size_t) {
  const Dims& dims = instruction.operand(0).shape.dims;
  std::vector<OperandDimension> roles;
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto same = static_cast<int64_t>(d);
    const bool turned = contains(instruction.as<DimensionsAttributes>().dimensions, same);
    roles.push_back(turned ? pointwise(same, -1, dims[d] - 1) : pointwise(same));
  }
  return roles;
}

void extents_of_reverse(ExtentRelater& r) {
  extents_by_roles(r);
  r.same(r.instruction(), 0, r.instruction().operand(0), 0);
}

}  // namespace

const OpRule kReverseRule{.read = read_dimensions,
                          .print = print_dimensions,
                          .infer = infer_reverse,
                          .eval = eval_reverse,
                          .element = element_reverse,
                          .split = split_operand_dimensions,
                          .slicing = sliced_in_step(roles_of_reverse),
                          .extents = extents_of_reverse,
                          .reads = reads_in_order,
                          .arithmetic = kQuarterOperation};

}  // namespace lowtide::engine
