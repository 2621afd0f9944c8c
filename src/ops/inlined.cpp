#include "ops/inlined.h"

namespace lowtide::engine {
namespace {

bool is_element_type(const Shape& shape) {
  bool all = true;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) { all = all && leaf.is_array(); });
  return all;
}

bool has_elements(const Computation& computation, bool scalars) {
  if (!computation.root) return false;
  for (const auto& instruction : computation.instructions()) {
    const Instruction& value = *instruction;
    if (!is_element_type(value.shape)) return false;
    bool fits = true;
    for_each_leaf(value.shape,
                  [&](const ShapeIndex&, const Shape& leaf) { fits = fits && (!scalars || leaf.rank() == 0); });
    if (!fits) return false;
    switch (value.opcode) {
      case Opcode::kParameter:
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
      case Opcode::kOptBarrier:
      case Opcode::kDomain: continue;
      case Opcode::kConstant:
        if (!value.as<ConstantAttributes>().value->known()) return false;
        [[fallthrough]];
      default: break;
    }
    const OpRule& rule = rule_of(value.opcode);
    if (!rule.element && !rule.leaf_element) return false;
    if (rule.has_element && !rule.has_element(value)) return false;
  }
  return true;
}

}  // namespace

int64_t part_count(const Shape& shape) {
  if (!shape.is_tuple()) return 1;
  int64_t count = 0;
  for (const Shape& element : shape.elements) count += part_count(element);
  return count;
}

const Shape& part_shape(const Shape& shape, int64_t leaf) {
  if (!shape.is_tuple()) return shape;
  for (const Shape& element : shape.elements) {
    const int64_t count = part_count(element);
    if (leaf < count) return part_shape(element, leaf);
    leaf -= count;
  }
  LT_ASSERT(false, "a leaf beyond the last one was asked for");
  return shape;
}

MadeBy made_by(const Instruction& value, int64_t leaf) {
  const Instruction* at = &value;
  while (true) {
    if (at->opcode == Opcode::kGetTupleElement) {
      const auto part = static_cast<size_t>(at->as<TupleIndexAttributes>().index);
      at = at->operands[0];
      for (size_t k = 0; k < part; ++k) leaf += part_count(at->shape.elements[k]);
    } else if (at->opcode == Opcode::kTuple) {
      size_t part = 0;
      for (int64_t count = 0; (count = part_count(at->operand(part).shape)) <= leaf; ++part) leaf -= count;
      at = at->operands[part];
    } else if (at->opcode == Opcode::kDomain || at->opcode == Opcode::kAddDependency ||
               (at->opcode == Opcode::kOptBarrier && at->operands.size() == 1)) {
      at = at->operands[0];
    } else {
      return {at, leaf};
    }
  }
}

InlinedElements::InlinedElements(ElementContext& outer, Parameter parameter, const bool* hopeless)
    : ElementContext(outer.nest),
      outer_(outer),
      parameter_(std::move(parameter)),
      hopeless_(hopeless),
      block_(outer.nest.current_block()) {}

int32_t InlinedElements::block_for(const Index& index) const {
  const int32_t known = nest.block_of(index);
  for (int32_t block = known; block != kNoId; block = nest.nest().blocks[block].parent) {
    if (block == block_) return known;
  }
  return block_;
}

NodeId InlinedElements::element(const Instruction& value, int64_t leaf, const Index& index) {
  const MadeBy source = made_by(value, leaf);
  const Instruction& maker = *source.instruction;
  if (maker.opcode == Opcode::kParameter || (hopeless_ && *hopeless_)) return parameter_(maker, source.leaf, index);
  const auto at = static_cast<size_t>(source.leaf);
  for (const Made& made : made_[&maker]) {
    if (made.index == index && made.leaves[at] != kNoId) return made.leaves[at];
  }
  Made made{index, std::vector<NodeId>(static_cast<size_t>(part_count(maker.shape)), kNoId)};
  const int32_t here = nest.current_block();
  nest.enter_block(block_for(index));
  const OpRule& rule = rule_of(maker.opcode);
  LT_ASSERT(rule.element || rule.leaf_element, "no element of " + maker.name);
  if (rule.leaf_element) {
    rule.leaf_element(*this, maker, source.leaf, index, made.leaves);
  } else {
    rule.element(*this, maker, index, made.leaves);
  }
  nest.enter_block(here);
  const NodeId node = made.leaves[at];
  made_[&maker].push_back(std::move(made));
  return node;
}

std::vector<NodeId> InlinedElements::call(const Computation& computation, std::span<const NodeId> arguments) {
  return outer_.call(computation, arguments);
}

std::shared_ptr<const Function> InlinedElements::function(const Computation& computation) {
  return outer_.function(computation);
}

bool has_elements(const Computation& computation) { return has_elements(computation, false); }
bool has_scalar_elements(const Computation& computation) { return has_elements(computation, true); }

}  // namespace lowtide::engine
