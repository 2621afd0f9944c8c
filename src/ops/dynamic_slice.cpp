/// dynamic-slice: a window of fixed size whose place is computed; moved inside where it would stick out.
///   operand T[s], start indices -> T[sizes], result[i] = operand[clamp(0, start, s - sizes) + i]
///   (C1) the operand is an array  (C2) one size per dimension, 0 <= size <= extent
///   (C3) the start indices are scalar integers, one per dimension; readers make them of the one vector of older texts
///
/// dynamic-update-slice: the operand with such a window replaced.
///   operand T[s], update T[u], start indices -> T[s]
///   (C1) operand and update are arrays of one element type
///   (C2) the update has the operand's rank and fits into it  (C3) as above

#include <fmt/format.h>

#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/start_elements.h"
#include "ops/start_indices.h"
#include "ops/strided.h"

namespace lowtide::engine {
namespace {

Status read(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(Dims sizes, reader.take_dims("dynamic_slice_sizes"));
  instruction.attributes = DynamicSliceAttributes{std::move(sizes)};
  return {};
}

void print(const Instruction& instruction, AttributeWriter& writer) {
  writer.dims("dynamic_slice_sizes", instruction.as<DynamicSliceAttributes>().sizes);
}

bool fits(const Dims& sizes, const Dims& extents) {
  if (sizes.size() != extents.size()) return false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || (sizes[d] > extents[d] && extents[d] != kUnboundedDim)) return false;
  }
  return true;
}

Result<Shape> infer_slice(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", kAnyArity, kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Dims& sizes = instruction.as<DynamicSliceAttributes>().sizes;
  if (!fits(sizes, operand.dims)) {
    return broken(instruction, "C2",
                  fmt::format("dynamic_slice_sizes {} must have one entry per dimension of {}, within its extents",
                              to_string(sizes), to_string_without_layout(operand)));
  }
  LT_RETURN_IF_ERROR(check_start_indices(instruction, "C3", 1, operand.rank()));
  return Shape::array(moved_type(instruction, operand.type), sizes);
}

Result<Shape> infer_update(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", kAnyArity, kAnything));
  if (instruction.operands.size() < 2) return broken(instruction, "C1", "expects an operand and an update");
  const Shape& operand = instruction.operand(0).shape;
  const Shape& update = instruction.operand(1).shape;
  if (!same_or_mixed_precision(operand.type, update.type)) {
    return broken(instruction, "C1",
                  fmt::format("operand and update must have one element type, got {} and {}", type_name(operand.type),
                              type_name(update.type)));
  }
  if (!fits(update.dims, operand.dims)) {
    return broken(instruction, "C2",
                  fmt::format("update {} must fit into operand {}", to_string_without_layout(update),
                              to_string_without_layout(operand)));
  }
  LT_RETURN_IF_ERROR(check_start_indices(instruction, "C3", 2, operand.rank()));
  return with_type(operand, result_type(instruction, operand.type));
}

Result<Value> eval_slice(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  LT_ASSIGN_OR_RETURN(const Value operand, convert_elements(operands[0], instruction.shape.type));
  const Dims& extents = operand->shape().dims;
  const Dims starts = clamped_starts(operands.subspan(1), extents, instruction.shape.dims);
  copy_out_of(*operand, *result, starts, Dims(extents.size(), 1));
  return Value(result);
}

Result<Value> eval_update(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const Value operand, convert_elements(operands[0], instruction.shape.type));
  LT_ASSIGN_OR_RETURN(const Value update, convert_elements(operands[1], instruction.shape.type));
  const auto result = std::make_shared<Literal>(*operand);
  const Dims starts = clamped_starts(operands.subspan(2), operand->shape().dims, update->shape().dims);
  copy_into(*update, *result, starts);
  return Value(result);
}

void element_slice(ElementContext& context, const Instruction& instruction, const Index& index,
                   std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const Instruction& operand = instruction.operand(0);
  Index from = index;
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t extent = operand.shape.dims[d], size = instruction.shape.dims[d];
    if (size == extent) continue;
    from[d] = nest.plus(clamped_start(nest, start_element(context, instruction, 1, d), extent, size), index[d]);
  }
  leaves[0] = nest.convert(context.element(operand, from), instruction.shape.type);
}

}  // namespace

const OpRule kDynamicSliceRule{
    .read = read, .print = print, .infer = infer_slice, .eval = eval_slice, .element = element_slice};
const OpRule kDynamicUpdateSliceRule{.infer = infer_update,
                                     .eval = eval_update,
                                     .element = element_dynamic_update_slice,
                                     .update = update_dynamic_update_slice,
                                     .has_update = has_update_dynamic_update_slice,
                                     .updated_operand = updated_operand_of_dynamic_update_slice};

}  // namespace lowtide::engine
