/// compare: a relation, element by element.
///   a T[s], b T[s] -> pred[s]
///   With NaN every relation but NE is false. type=TOTALORDER: -NaN < -inf < ... < -0 < +0 < ... < inf < NaN.
///   (C1) two arrays  (C2) equal extents  (C3) one element type  (C4) complex numbers compare by EQ and NE only

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/elementwise.h"
#include "ops/ordering.h"

namespace lowtide::engine {
namespace {

constexpr std::array<std::string_view, 6> kDirections = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::array<std::string_view, 5> kTypes = {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};

Status read_compare(AttributeReader& reader, Instruction& instruction) {
  CompareAttributes compare;
  LT_ASSIGN_OR_RETURN(const std::string direction, reader.take_word("direction"));
  const auto d = std::find(kDirections.begin(), kDirections.end(), direction);
  if (d == kDirections.end()) return reader.fault_at("direction", "expected EQ, NE, GE, GT, LE or LT");
  compare.direction = static_cast<CompareDirection>(d - kDirections.begin());
  LT_ASSIGN_OR_RETURN(const std::string type, reader.take_word_or("type", ""));
  const auto t = std::find(kTypes.begin(), kTypes.end(), type);
  if (t == kTypes.end()) return reader.fault_at("type", "expected FLOAT, TOTALORDER, SIGNED or UNSIGNED");
  compare.type = static_cast<CompareType>(t - kTypes.begin());
  instruction.attributes = compare;
  return {};
}

void print_compare(const Instruction& instruction, AttributeWriter& writer) {
  const auto& compare = instruction.as<CompareAttributes>();
  writer.text("direction", kDirections[static_cast<size_t>(compare.direction)]);
  if (compare.type != CompareType::kDefault) writer.text("type", kTypes[static_cast<size_t>(compare.type)]);
}

Result<Shape> infer_compare(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 2, kAnything));
  const Shape& a = instruction.operand(0).shape;
  LT_RETURN_IF_ERROR(check_pair(instruction, a, instruction.operand(1).shape));
  const CompareDirection direction = instruction.as<CompareAttributes>().direction;
  if (is_complex(a.type) && direction != CompareDirection::kEq && direction != CompareDirection::kNe) {
    return broken(instruction, "C4", "complex numbers have no order, only EQ and NE compare them");
  }
  return with_type(a, ElementType::kPred);
}

Result<Value> eval_compare(const Instruction& instruction, Operands operands, EvalContext&) {
  const CompareAttributes& attributes = instruction.as<CompareAttributes>();
  LT_ASSIGN_OR_RETURN(const std::vector<Value> same, in_one_type(operands));
  return dispatch_computed(same[0]->shape().type, [&]<class C>() {
    const auto compare = [&](C a, C b) { return holds(attributes, a, b); };
    return map_numbers<C, bool>(instruction.shape, compare, *same[0], *same[1]);
  });
}

void element_compare(ElementContext& context, const Instruction& instruction, const Index& index,
                     std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const ElementType type = common_type(instruction.operand(0).shape.type, instruction.operand(1).shape.type);
  const NodeId a = nest.convert(context.element(instruction.operand(0), index), type);
  const NodeId b = nest.convert(context.element(instruction.operand(1), index), type);
  leaves[0] = nest.compare(a, b, instruction.as<CompareAttributes>());
}

}  // namespace

const OpRule kCompareRule{.read = read_compare,
                          .print = print_compare,
                          .infer = infer_compare,
                          .eval = eval_compare,
                          .element = element_compare,
                          .split = split_by_element,
                          .slicing = kSlicedByElement,
                          .extents = extents_by_roles,
                          .reads = reads_by_element,
                          .arithmetic = kOneOperation};

}  // namespace lowtide::engine
