#include "ops/elementwise.h"

#include <fmt/format.h>

namespace lowtide::engine {

Result<Shape> infer_unary(const Instruction& instruction, Kinds kinds) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kinds));
  const Shape& operand = instruction.operand(0).shape;
  return with_type(operand, result_type(instruction, operand.type));
}

Result<Shape> infer_binary(const Instruction& instruction, Kinds kinds) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 2, kinds));
  const Shape& a = instruction.operand(0).shape;
  const Shape& b = instruction.operand(1).shape;
  LT_RETURN_IF_ERROR(check_pair(instruction, a, b));
  return with_type(a, result_type(instruction, a.type));
}

Status check_pair(const Instruction& instruction, const Shape& a, const Shape& b) {
  if (!same_extents(a, b)) {
    return broken(instruction, "C2",
                  fmt::format("operands must have equal extents, got {} and {}", to_string_without_layout(a),
                              to_string_without_layout(b)));
  }
  if (!same_or_mixed_precision(a.type, b.type)) {
    return broken(
        instruction, "C3",
        fmt::format("operands must have one element type, got {} and {}", type_name(a.type), type_name(b.type)));
  }
  return {};
}

bool same_or_mixed_precision(ElementType a, ElementType b) { return a == b || (is_floating(a) && is_floating(b)); }

ElementType common_type(ElementType a, ElementType b) {
  if (a == b) return a;
  const int bits = std::max(type_bits(a), type_bits(b));
  return bits == 64 ? ElementType::kF64 : ElementType::kF32;  // also for f16 with bf16
}

Result<std::vector<Value>> in_one_type(Operands operands) {
  ElementType widest = operands[0]->shape().type;
  for (const Value& operand : operands) widest = common_type(widest, operand->shape().type);
  std::vector<Value> same;
  for (const Value& operand : operands) {
    LT_ASSIGN_OR_RETURN(Value converted, convert_elements(operand, widest));
    same.push_back(std::move(converted));
  }
  return same;
}

NodeId operand_element(ElementContext& context, const Instruction& instruction, size_t k, const Index& index) {
  const Instruction& operand = instruction.operand(k);
  return context.element(operand, operand.shape.rank() == 0 ? Index{} : index);
}

void element_by_operation(ElementContext& context, const Instruction& instruction, const Index& index,
                          std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  ElementType type = instruction.operand(0).shape.type;
  for (const Instruction* operand : instruction.operands) type = common_type(type, operand->shape.type);
  std::vector<NodeId> operands;
  for (size_t k = 0; k < instruction.operands.size(); ++k) {
    operands.push_back(nest.convert(operand_element(context, instruction, k, index), type));
  }
  // The operation itself changes the kind (parts of complex numbers, predicates), but not the precision.
  const bool changes_kind = type_kind(type) != type_kind(instruction.shape.type);
  const NodeId made = nest.operation(instruction.opcode, changes_kind ? instruction.shape.type : type, operands);
  leaves[0] = nest.convert(made, instruction.shape.type);
}

ElementType result_type(const Instruction& instruction, ElementType natural) {
  return is_floating(natural) && is_floating(instruction.shape.type) ? instruction.shape.type : natural;
}

ElementType moved_type(const Instruction& instruction, ElementType operand) {
  const bool of_backend = instruction.parent && instruction.parent->module().is_scheduled;
  return of_backend ? result_type(instruction, operand) : operand;
}

Shape with_type(const Shape& shape, ElementType type) {
  Shape result = Shape::array(type, shape.dims);
  result.dynamic = shape.dynamic;
  return result;
}

}  // namespace lowtide::engine
