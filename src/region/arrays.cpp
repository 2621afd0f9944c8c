#include "region/arrays.h"

namespace lowtide::engine {
namespace {

void scatter(const Instruction& instruction, const Value& value, int32_t& leaf, std::map<LeafRef, Value>& arrays) {
  if (value->shape().is_tuple()) {
    for (const Value& part : value->parts()) scatter(instruction, part, leaf, arrays);
  } else {
    arrays[{&instruction, leaf++}] = value;
  }
}

}  // namespace

void ArrayStore::set(const Instruction& instruction, const Value& value) {
  int32_t leaf = 0;
  scatter(instruction, value, leaf, arrays_);
}

Value ArrayStore::get(LeafRef leaf) const {
  const LeafRef array = resolve(leaf);
  const auto found = arrays_.find(array);
  if (found != arrays_.end()) return found->second;
  LT_ASSERT(array.instruction->opcode == Opcode::kConstant,
            "nothing has stored " + array.instruction->name + ", which is read");
  return array.instruction->as<ConstantAttributes>().value;
}

Value ArrayStore::operand(const Instruction& operand) const {
  int32_t leaf = 0;
  return gather(operand, operand.shape, leaf);
}

Value ArrayStore::gather(const Instruction& operand, const Shape& shape, int32_t& leaf) const {
  if (shape.is_tuple()) {
    std::vector<Value> parts;
    for (const Shape& element : shape.elements) parts.push_back(gather(operand, element, leaf));
    return std::make_shared<Literal>(std::move(parts));
  }
  const LeafRef array{&operand, leaf++};
  return shape.is_array() ? get(array) : std::make_shared<Literal>(Literal::token());
}

}  // namespace lowtide::engine
