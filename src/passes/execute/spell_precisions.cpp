#include "passes/execute/spell_precisions.h"

#include <algorithm>
#include <optional>

#include "ops/elementwise.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

bool is_mixed(ElementType a, ElementType b) { return a != b && is_floating(a) && is_floating(b); }

/// The operands that are converted to one type: [first, last).
struct Together {
  size_t first = 0, last = 0;
};
Together operands_of_one_type(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kSelect: return {1, 3};
    case Opcode::kPad:
    case Opcode::kDynamicUpdateSlice: return {0, 2};
    case Opcode::kConcatenate: return {0, i.operands.size()};
    case Opcode::kGather:
    case Opcode::kDynamicSlice:
    case Opcode::kSlice:
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kBroadcast:
    case Opcode::kReshape: return {0, 1};
    case Opcode::kConvert:
    case Opcode::kStochasticConvert:
    case Opcode::kComplex:
    case Opcode::kMap: return {};
    default: return memory_class(i.opcode) == MemoryClass::kElementwise ? Together{0, i.operands.size()} : Together{};
  }
}

/// Does the operation only select elements of its operands? Then these are converted to the result's type.
bool chooses(const Instruction& i) {
  return i.opcode == Opcode::kSelect || i.opcode == Opcode::kPad || i.opcode == Opcode::kDynamicUpdateSlice ||
         i.opcode == Opcode::kConcatenate;
}

/// The type in which floats are computed; none if the operation doesn't mix types.
std::optional<ElementType> computed_type(const Instruction& i) {
  const auto [first, last] = operands_of_one_type(i);
  if (!i.shape.is_array() || first == last || !is_floating(i.operand(first).shape.type)) return std::nullopt;
  if (chooses(i)) return i.shape.type;
  ElementType type = i.operand(first).shape.type;
  for (size_t k = first; k < last; ++k) type = common_type(type, i.operand(k).shape.type);
  return type;
}

Instruction* spell_scatter(const Instruction& i, Maker& maker) {
  const size_t count = i.operands.size() / 2;
  std::vector<Instruction*> operands = i.operands;
  for (size_t k = 0; k < count; ++k) {
    operands[count + 1 + k] = maker.convert(operands[count + 1 + k], operands[k]->shape.type);
  }
  return operands == i.operands ? nullptr : maker.like(i, i.shape, std::move(operands));
}

/// Computes a fold in the types of its accumulators, and rounds the result.
Instruction* spell_fold(const Instruction& i, Maker& maker) {
  const size_t count = i.operands.size() / 2;
  const std::vector<Instruction*> accumulators = i.called[0]->parameters();
  Shape folded = i.shape;
  const auto part = [&](Shape& shape, size_t k) -> Shape& { return shape.is_tuple() ? shape.elements[k] : shape; };
  bool rounds = false;
  for (size_t k = 0; k < count; ++k) {
    const ElementType type = accumulators[k]->shape.type;
    rounds = rounds || is_mixed(part(folded, k).type, type);
    part(folded, k) = Shape::array(type, part(folded, k).dims);
  }
  if (!rounds) return nullptr;
  Instruction* fold = maker.like(i, folded, i.operands);
  if (!folded.is_tuple()) return maker.convert(fold, i.shape.type);
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < count; ++k) {
    Instruction* taken =
        maker.make(Opcode::kGetTupleElement, folded.elements[k], {fold}, TupleIndexAttributes{static_cast<int64_t>(k)});
    parts.push_back(maker.convert(taken, i.shape.elements[k].type));
  }
  return maker.make(Opcode::kTuple, i.shape, std::move(parts));
}

Instruction* spell_precision(const Instruction& i, Maker& maker) {
  if (i.opcode == Opcode::kScatter) return spell_scatter(i, maker);
  if (i.opcode == Opcode::kReduce || i.opcode == Opcode::kReduceWindow) return spell_fold(i, maker);
  const std::optional<ElementType> type = computed_type(i);
  if (!type) return nullptr;
  const auto [first, last] = operands_of_one_type(i);
  bool mixed = is_mixed(*type, i.shape.type);
  for (size_t k = first; k < last; ++k) mixed = mixed || is_mixed(*type, i.operand(k).shape.type);
  if (!mixed) return nullptr;
  if (i.opcode == Opcode::kCopy) return maker.convert(i.operands[0], i.shape.type);
  std::vector<Instruction*> operands = i.operands;
  for (size_t k = first; k < last; ++k) operands[k] = maker.convert(operands[k], *type);
  if (!is_mixed(*type, i.shape.type)) return maker.like(i, i.shape, std::move(operands));
  Shape computed = Shape::array(*type, i.shape.dims);
  computed.dynamic = i.shape.dynamic;
  Instruction* made = maker.convert(maker.like(i, std::move(computed), std::move(operands)), i.shape.type);
  made->shape.dynamic = i.shape.dynamic;
  return made;
}

}  // namespace

Result<PassResult> spell_precisions(Module& module) {
  return rewrite_each(module, spell_precision, "operations on mixed floats");
}

}  // namespace lowtide::engine
