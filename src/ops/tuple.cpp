/// Operations on tuples, and operations that only rename their operands.
///
/// tuple              a, b, ... -> (a, b, ...)
/// get-tuple-element  t (.., a, ..), index -> a        (C1) one operand, a tuple  (C2) 0 <= index < its elements
/// opt-barrier        a -> a, which no pass looks through       (C1) one operand
/// domain             a -> a, between differently sharded parts (C1) one operand
/// add-dependency     a, token -> a, after the token            (C1) two operands

#include <fmt/format.h>

#include "ir/shape_leaves.h"
#include "ops/extents.h"
#include "ops/infer.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

/// Limits the size of nested tuples, which may double with every line of text.
constexpr int64_t kMostNodes = int64_t{1} << 22;

int64_t count_nodes(const Shape& shape, int64_t limit) {
  int64_t nodes = 1;
  for (const Shape& element : shape.elements) {
    if (nodes > limit) break;
    nodes += count_nodes(element, limit - nodes);
  }
  return nodes;
}

Result<Shape> infer_tuple(const Instruction& instruction) {
  int64_t nodes = 0;
  for (const Instruction* operand : instruction.operands) {
    nodes += count_nodes(operand->shape, kMostNodes - nodes);
    if (nodes > kMostNodes) return broken(instruction, "", "the tuple has more than four million elements");
  }
  std::vector<Shape> elements;
  elements.reserve(instruction.operands.size());
  for (const Instruction* operand : instruction.operands) elements.push_back(operand->shape);
  return Shape::tuple(std::move(elements));
}

Result<Value> eval_tuple(const Instruction&, Operands operands, EvalContext&) {
  return std::make_shared<const Literal>(std::vector<Value>(operands.begin(), operands.end()));
}

Status read_index(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(const int64_t index, reader.take_integer("index"));
  instruction.attributes = TupleIndexAttributes{index};
  return {};
}

void print_index(const Instruction& instruction, AttributeWriter& writer) {
  writer.integer("index", instruction.as<TupleIndexAttributes>().index);
}

Result<Shape> infer_element(const Instruction& instruction) {
  if (instruction.operands.size() != 1 || !instruction.operand(0).shape.is_tuple()) {
    return broken(instruction, "C1", "expects one operand, a tuple");
  }
  const Shape& tuple = instruction.operand(0).shape;
  const int64_t index = instruction.as<TupleIndexAttributes>().index;
  if (index < 0 || static_cast<size_t>(index) >= tuple.elements.size()) {
    return broken(instruction, "C2",
                  fmt::format("index {} is not an element of a tuple of {}", index, tuple.elements.size()));
  }
  return tuple.elements[index];
}

Result<Value> eval_element(const Instruction& instruction, Operands operands, EvalContext&) {
  return operands[0]->parts()[instruction.as<TupleIndexAttributes>().index];
}

Result<Shape> infer_same(const Instruction& instruction) {
  const size_t expected = instruction.opcode == Opcode::kAddDependency ? 2 : 1;
  if (instruction.operands.size() != expected) {
    return broken(instruction, "C1", fmt::format("expects {} operands, got {}", expected, instruction.operands.size()));
  }
  return instruction.operand(0).shape;
}

Result<Value> eval_same(const Instruction&, Operands operands, EvalContext&) { return operands[0]; }

void extents_of_tuple(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  int64_t first = 0;
  for (const Instruction* operand : i.operands) {
    const int64_t count = leaf_count(operand->shape);
    r.same_leaves(i, first, *operand, 0, count);
    first += count;
  }
}

void extents_of_element(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const int64_t first = leaf_offset(i.operand(0).shape, i.as<TupleIndexAttributes>().index);
  r.same_leaves(i, 0, i.operand(0), first, leaf_count(i.shape));
}

}  // namespace

const OpRule kTupleRule{.infer = infer_tuple,
                        .eval = eval_tuple,
                        .slicing = kNotSliced,
                        .extents = extents_of_tuple,
                        .reads = reads_anywhere,
                        .arithmetic = kOneOperation};
const OpRule kGetTupleElementRule{.read = read_index,
                                  .print = print_index,
                                  .infer = infer_element,
                                  .eval = eval_element,
                                  .slicing = kNotSliced,
                                  .extents = extents_of_element,
                                  .reads = reads_anywhere,
                                  .arithmetic = kOneOperation};
const OpRule kOptBarrierRule{.infer = infer_same,
                             .eval = eval_same,
                             .slicing = kNotSliced,
                             .extents = extents_of_operand,
                             .reads = reads_anywhere,
                             .arithmetic = kOneOperation};
const OpRule kDomainRule{.infer = infer_same,
                         .eval = eval_same,
                         .slicing = kNotSliced,
                         .extents = extents_of_operand,
                         .reads = reads_anywhere,
                         .arithmetic = kOneOperation};
const OpRule kAddDependencyRule{.infer = infer_same,
                                .eval = eval_same,
                                .slicing = kNotSliced,
                                .extents = extents_of_operand,
                                .reads = reads_anywhere,
                                .arithmetic = kOneOperation};

}  // namespace lowtide::engine
