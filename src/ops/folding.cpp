#include "ops/folding.h"

#include <cmath>
#include <limits>

#include "ops/inlined.h"

namespace lowtide::engine {
namespace {

/// The neutral element of a fold, a constant; kNoId if the fold must keep its order or has no neutral element.
NodeId neutral_of(NestBuilder& nest, Opcode opcode, ElementType type) {
  const TypeKind kind = type_kind(type);
  const bool ordering = opcode == Opcode::kMaximum || opcode == Opcode::kMinimum;
  const bool greatest = opcode == Opcode::kMinimum;
  if (kind == TypeKind::kFloat) {
    const bool wide = is_wide_float(type);
    const bool has_infinity = wide || type == ElementType::kF16 || type == ElementType::kBF16;
    if (ordering && has_infinity) return nest.number(type, greatest ? INFINITY : -INFINITY);
    if (opcode == Opcode::kAdd && wide) return nest.number(type, -0.0);  // 0 + -0 would lose the sign
    if (opcode == Opcode::kMultiply && wide) return nest.number(type, 1);
    return kNoId;
  }
  if (kind == TypeKind::kComplex) {
    if (opcode != Opcode::kAdd) return kNoId;
    const NodeId part = nest.number(type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64, -0.0);
    return nest.operation(Opcode::kComplex, type, {part, part});
  }
  if (kind == TypeKind::kPredicate) {
    const bool is_true = opcode == Opcode::kMultiply || opcode == Opcode::kMinimum || opcode == Opcode::kAnd;
    return nest.number(type, is_true ? 1 : 0);
  }
  if (kind != TypeKind::kSigned && kind != TypeKind::kUnsigned) return kNoId;
  if (opcode == Opcode::kMultiply) return nest.integer(type, 1);
  if (opcode == Opcode::kAnd) return nest.integer(type, -1);
  if (!ordering) return nest.integer(type, 0);
  if (kind == TypeKind::kUnsigned) return nest.integer(type, greatest ? -1 : 0);
  const int bits = type_bits(type);
  const int64_t least = bits == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (bits - 1));
  return nest.integer(type, greatest ? -(least + 1) : least);
}

std::shared_ptr<const Function> function_of(Opcode opcode, ElementType type) {
  auto function = std::make_shared<Function>();
  function->argument_count = 2;
  for (int32_t k = 0; k < 2; ++k) {
    Node argument;
    argument.kind = NodeKind::kArgument;
    argument.type = type;
    argument.slot = k;
    function->nodes.push_back(argument);
  }
  Node combined;
  combined.kind = NodeKind::kOperation;
  combined.opcode = opcode;
  combined.type = type;
  combined.operands = {0, 1};
  function->nodes.push_back(combined);
  function->results = {2};
  return function;
}

bool is_parameter(const Instruction& instruction, size_t number) {
  const auto* parameter = instruction.if_as<ParameterAttributes>();
  return parameter && parameter->number == static_cast<int64_t>(number);
}

}  // namespace

NodeId both(NestBuilder& nest, NodeId a, NodeId b) {
  if (a == kNoId || b == kNoId) return a == kNoId ? b : a;
  return nest.operation(Opcode::kAnd, ElementType::kPred, {a, b});
}

std::optional<Opcode> folding_opcode(const Computation& computation, size_t accumulator, size_t accumulators) {
  const Instruction& result = *made_by(*computation.root, static_cast<int64_t>(accumulator)).instruction;
  if (!is_commutative(result.opcode) || result.operands.size() != 2) return std::nullopt;
  const size_t other = accumulator + accumulators;
  const Instruction& a = result.operand(0);
  const Instruction& b = result.operand(1);
  const bool in_order = is_parameter(a, accumulator) && is_parameter(b, other);
  const bool swapped = is_parameter(b, accumulator) && is_parameter(a, other);
  const bool one_type = a.shape.type == result.shape.type && b.shape.type == result.shape.type;
  return (in_order || swapped) && one_type ? std::optional(result.opcode) : std::nullopt;
}

bool sums_small_floats(const Combine& combine, ElementType type) {
  if (!is_floating(type) || type_bits(type) >= 32) return false;
  if (!combine.computation) return combine.opcode == Opcode::kAdd && combine.type == type;
  return folding_opcode(*combine.computation, 0, 1) == Opcode::kAdd && combine.computation->root->shape.type == type;
}

Folding::Folding(ElementContext& context, Combine combine, std::vector<NodeId> initial)
    : context_(context), nest_(context.nest), combine_(combine), accumulators_(std::move(initial)) {
  if (const ElementType type = nest_.node(accumulators_[0]).type;
      accumulators_.size() == 1 && sums_small_floats(combine_, type)) {
    rounded_to_ = type;
    combine_ = {.opcode = Opcode::kAdd, .type = ElementType::kF32};
    accumulators_[0] = nest_.convert(accumulators_[0], ElementType::kF32);
  }
  for (size_t k = 0; k < accumulators_.size(); ++k) {
    const ElementType type = nest_.node(accumulators_[k]).type;
    const auto opcode = combine_.computation ? folding_opcode(*combine_.computation, k, accumulators_.size())
                                             : std::optional(combine_.opcode);
    const NodeId neutral = opcode ? neutral_of(nest_, *opcode, type) : kNoId;
    if (neutral == kNoId) {
      neutral_.clear();
      return;
    }
    neutral_.push_back(neutral);
  }
  function_ =
      combine_.computation ? context_.function(*combine_.computation) : function_of(combine_.opcode, combine_.type);
}

Affine Folding::open(int64_t extent) {
  const int32_t loop = neutral_.empty() ? nest_.begin_sequential(extent, accumulators_)
                                        : nest_.begin_reduce(extent, accumulators_, function_, neutral_);
  loops_.push_back(loop);
  for (size_t k = 0; k < accumulators_.size(); ++k) accumulators_[k] = nest_.carried(loop, static_cast<int32_t>(k));
  return nest_.index_of(loop);
}

std::vector<NodeId> Folding::combined(std::span<const NodeId> elements) {
  if (!combine_.computation) {
    return {nest_.operation(combine_.opcode, combine_.type, {accumulators_[0], elements[0]})};
  }
  std::vector<NodeId> arguments = accumulators_;
  arguments.insert(arguments.end(), elements.begin(), elements.end());
  return context_.call(*combine_.computation, arguments);
}

void Folding::fold(std::vector<NodeId> elements, NodeId guard) {
  const bool masked = guard != kNoId && !neutral_.empty();
  if (rounded_to_) elements[0] = nest_.convert(elements[0], ElementType::kF32);
  for (size_t k = 0; masked && k < elements.size(); ++k) {
    elements[k] = nest_.select(guard, elements[k], neutral_[k]);
  }
  std::vector<NodeId> next = combined(elements);
  for (size_t k = 0; guard != kNoId && !masked && k < next.size(); ++k) {
    next[k] = nest_.select(guard, next[k], accumulators_[k]);
  }
  accumulators_ = std::move(next);
}

std::vector<NodeId> Folding::close() {
  while (!loops_.empty()) {
    accumulators_ = nest_.end_carrying(loops_.back(), accumulators_);
    loops_.pop_back();
  }
  if (rounded_to_) accumulators_[0] = nest_.convert(accumulators_[0], *rounded_to_);
  return std::move(accumulators_);
}

}  // namespace lowtide::engine
