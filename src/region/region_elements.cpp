#include "region/region_elements.h"

#include "analysis/leaves.h"
#include "ops/evaluate.h"
#include "ops/inlined.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

size_t RegionElements::HashKey::operator()(const Key& key) const {
  uint64_t hash = reinterpret_cast<uintptr_t>(key.leaf.instruction) + static_cast<uint64_t>(key.leaf.leaf);
  const auto mix = [&](int64_t word) {
    hash = (hash ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  for (const Affine& affine : key.index) {
    mix(affine.constant);
    for (const auto& term : affine.terms) mix(term.atom * int64_t{65537} + term.coefficient);
  }
  return hash;
}

RegionElements::RegionElements(NestBuilder& nest, const Region& region) : ElementContext(nest), region_(region) {
  const auto add = [&](const LeafRef& leaf) {
    const Shape& array = *leaf_shape(leaf.instruction->shape, leaf.leaf);
    return nest.add_buffer(array.type, element_count(array));
  };
  for (const LeafRef& input : region.inputs) inputs_[input.instruction].emplace_back(input.leaf, add(input));
  first_output_ = static_cast<int32_t>(region.inputs.size());
  for (const LeafRef& output : region.outputs) add(output);
}

NodeId RegionElements::element(const Instruction& value, int64_t leaf, const Index& index) {
  const LeafRef array = resolve({&value, static_cast<int32_t>(leaf)});
  const Instruction& maker = *array.instruction;
  const Shape& shape = *leaf_shape(maker.shape, array.leaf);
  LT_ASSERT(static_cast<int64_t>(index.size()) == shape.rank(),
            "an element of " + maker.name + " has an index of another rank");
  if (const auto stored = inputs_.find(&maker); stored != inputs_.end()) {
    for (const auto& [input, buffer] : stored->second) {
      if (input == array.leaf) return nest.load(buffer, nest.position(index, shape.dims));
    }
  }
  if (const auto made = made_.find({array, index}); made != made_.end()) return made->second;
  const OpRule& rule = rule_of(maker.opcode);
  LT_ASSERT(rule.element || rule.leaf_element,
            maker.name + " is read by a region, but neither stored nor made of elements");
  std::vector<NodeId> leaves(static_cast<size_t>(leaf_count(maker.shape)), kNoId);
  const int32_t here = nest.current_block();
  nest.enter_block(nest.inner_block(nest.block_of(index), home_));
  if (rule.leaf_element) {
    rule.leaf_element(*this, maker, array.leaf, index, leaves);
  } else {
    rule.element(*this, maker, index, leaves);
  }
  nest.enter_block(here);
  for (size_t k = 0; k < leaves.size(); ++k) {
    if (leaves[k] != kNoId) made_.emplace(Key{{&maker, static_cast<int32_t>(k)}, index}, leaves[k]);
  }
  const NodeId made = leaves[array.leaf];
  LT_ASSERT(made != kNoId, maker.name + " gave no element");
  LT_ASSERT(nest.node(made).type == shape.type, maker.name + " gave an element of another type");
  return made;
}

namespace {

/// One node per leaf of the computation's result, with these nodes as its parameters.
std::vector<NodeId> made_in_place(ElementContext& context, const Computation& computation,
                                  std::span<const NodeId> arguments) {
  InlinedElements inlined(context, [&](const Instruction& parameter, int64_t, const Index&) {
    return arguments[parameter.as<ParameterAttributes>().number];
  });
  std::vector<NodeId> results;
  for (int64_t k = 0; k < leaf_count(computation.root->shape); ++k) {
    results.push_back(inlined.element(*computation.root, k, {}));
  }
  return results;
}

/// Elements for a computation of scalars, outside any region.
class ScalarElements : public ElementContext {
 public:
  using ElementContext::ElementContext;
  NodeId element(const Instruction& value, int64_t, const Index&) override {
    LT_ASSERT(false, value.name + " is read by a function, but stands outside of it");
    return kNoId;
  }
  std::vector<NodeId> call(const Computation& computation, std::span<const NodeId> arguments) override {
    return made_in_place(*this, computation, arguments);
  }
  std::shared_ptr<const Function> function(const Computation&) override { return nullptr; }
  int32_t buffer_of(const Instruction&, int64_t) override { return kNoId; }
};

}  // namespace

std::vector<NodeId> RegionElements::call(const Computation& computation, std::span<const NodeId> arguments) {
  return made_in_place(*this, computation, arguments);
}

std::shared_ptr<const Function> RegionElements::function(const Computation& computation) {
  NestBuilder body(evaluate);
  std::vector<NodeId> arguments;
  for (const Instruction* parameter : computation.parameters())
    arguments.push_back(body.argument(parameter->shape.type));
  ScalarElements elements(body);
  const std::vector<NodeId> results = elements.call(computation, arguments);
  return std::make_shared<const Function>(body.take_function(results));
}

int32_t RegionElements::buffer_of(const Instruction& value, int64_t leaf) {
  for (size_t k = 0; k < region_.outputs.size(); ++k) {
    const LeafRef& output = region_.outputs[k];
    if (output.instruction == &value && output.leaf == leaf) return buffer_of_output(k);
  }
  return kNoId;
}

}  // namespace lowtide::engine
