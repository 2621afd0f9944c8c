/// reshape: the same elements in the same row-major order, with other extents.
///   operand T[s] -> T[r], r is declared
///   (C1) operand and result are arrays of one element type  (C2) they have equally many elements
///
/// dynamic-reshape: a reshape whose extents are operands; the declared ones are their bounds.
///   operand T[s], sizes s32[] ... -> T[<=r]
///   (C1) as above  (C2) as above, for the bounds  (C3) one scalar integer per dimension of the result

#include <fmt/format.h>

#include <algorithm>

#include "ops/dimension_roles.h"
#include "ops/elementwise.h"
#include "ops/extents.h"

namespace lowtide::engine {
namespace {

bool is_unbounded(const Shape& shape) { return contains(shape.dims, kUnboundedDim); }

Status check_reshape(const Instruction& instruction) {
  if (instruction.operands.empty()) return broken(instruction, "C1", "expects an operand");
  LT_RETURN_IF_ERROR(check_declared(instruction, "C1", kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Shape& result = instruction.shape;
  if (moved_type(instruction, operand.type) != result.type) {
    return broken(instruction, "C1",
                  fmt::format("operand and result must have one element type, got {} and {}",
                              to_string_without_layout(operand), to_string_without_layout(result)));
  }
  LT_RETURN_IF_ERROR(checked(instruction, operand).status());
  if (!is_unbounded(operand) && !is_unbounded(result) && element_count(operand) != element_count(result)) {
    return broken(instruction, "C2",
                  fmt::format("{} has {} elements but {} has {}", to_string_without_layout(operand),
                              element_count(operand), to_string_without_layout(result), element_count(result)));
  }
  return {};
}

Result<Shape> infer_reshape(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  LT_RETURN_IF_ERROR(check_reshape(instruction));
  return instruction.shape;
}

Result<Shape> infer_dynamic_reshape(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_reshape(instruction));
  const size_t sizes = instruction.operands.size() - 1;
  bool scalars = sizes == instruction.shape.dims.size();
  for (size_t i = 1; i < instruction.operands.size(); ++i) {
    const Shape& size = instruction.operand(i).shape;
    scalars = scalars && (kind_of(size.type) & kIntegers) && size.rank() == 0;
  }
  if (!scalars) {
    return broken(instruction, "C3",
                  fmt::format("expects one scalar integer per dimension of {}, got {} sizes",
                              to_string_without_layout(instruction.shape), sizes));
  }
  return instruction.shape;
}

Result<Value> eval_reshape(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  LT_ASSIGN_OR_RETURN(const Value operand, convert_elements(operands[0], instruction.shape.type));
  std::ranges::copy(operand->bytes(), result->bytes().begin());
  return Value(result);
}

Result<Value> eval_dynamic_reshape(const Instruction& instruction, Operands operands, EvalContext& context) {
  for (size_t d = 0; d + 1 < operands.size(); ++d) {
    if (integer_at(*operands[d + 1], 0) != instruction.shape.dims[d]) {
      return Status::unsupported("dynamic-reshape to less than the bounds: values of the interpreter have fixed sizes");
    }
  }
  return eval_reshape(instruction, operands, context);
}

void element_reshape(ElementContext& context, const Instruction& instruction, const Index& index,
                     std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const Instruction& operand = instruction.operand(0);
  const Index from = nest.index_at(nest.position(index, instruction.shape.dims), operand.shape.dims);
  leaves[0] = nest.convert(context.element(operand, from), instruction.shape.type);
}

void extents_of_reshape(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  r.regroup(row_major(r.leaf_of(i.operand(0), 0)), row_major(r.leaf_of(i, 0)));
}

/// Of dimensions of the operand that become one or several of the result's together, all but the first.
uint64_t inner_dimensions(const Dims& from, const Dims& to) {
  uint64_t inner = 0;
  size_t j = 0;
  int64_t before = 1, after = 1;  // elements of the dimensions of a group so far
  for (size_t i = 0; i < from.size() && i < 64; ++i) {
    if (from[i] == 1) continue;
    if (before > 1) inner |= uint64_t{1} << i;
    before *= from[i];
    while (after < before && j < to.size()) after *= to[j++];
    if (after == before) before = after = 1;
  }
  return inner;
}

void reads_of_reshape(OperandReads& reads) {
  reads_in_order(reads);
  reads.walks_again(inner_dimensions(reads.read().dims, reads.user().shape.dims));
}

}  // namespace

const OpRule kReshapeRule{
    .infer = infer_reshape,
    .eval = eval_reshape,
    .element = element_reshape,
    .slicing = sliced_in_step(regrouped_dimensions),
    .extents = extents_of_reshape,
    .reads = reads_of_reshape,
    .arithmetic = {.plain = 2, .complex = 2, .code = 1, .rounds = Rounds::kNever, .terms = no_sum}};
const OpRule kDynamicReshapeRule{.infer = infer_dynamic_reshape,
                                 .eval = eval_dynamic_reshape,
                                 .slicing = kNotSliced,
                                 .extents = unknown_extents,
                                 .reads = reads_anywhere,
                                 .arithmetic = kOneOperation};

}  // namespace lowtide::engine
