#include <cstring>

#include "nest/blocks.h"
#include "nest/builder_state.h"
#include "nest/compact.h"
#include "nest/identities.h"

namespace lowtide::engine {
namespace {

NodeKey key_of(const Node& node) {
  NodeKey key{static_cast<uint64_t>(node.kind) | static_cast<uint64_t>(node.opcode) << 8 |
                  static_cast<uint64_t>(node.type) << 24 | static_cast<uint64_t>(node.compare.direction) << 32 |
                  static_cast<uint64_t>(node.compare.type) << 40,
              static_cast<uint64_t>(node.reduce_precision.exponent_bits),
              static_cast<uint64_t>(node.reduce_precision.mantissa_bits),
              node.bits[0],
              node.bits[1],
              static_cast<uint64_t>(node.buffer) << 32 | static_cast<uint32_t>(node.slot),
              static_cast<uint64_t>(node.affine.constant),
              node.operands.size()};
  for (const NodeId operand : node.operands) key.push_back(static_cast<uint64_t>(operand));
  for (const auto& term : node.affine.terms) {
    key.push_back(static_cast<uint64_t>(term.atom));
    key.push_back(static_cast<uint64_t>(term.coefficient));
  }
  return key;
}

}  // namespace

NestBuilder::NestBuilder(FoldOperation fold) : shared_(std::make_shared<Shared>()) {
  shared_->fold = fold;
  add_block(kNoId, kNoId);
}

Nest NestBuilder::take() { return without_dead_parts(std::move(nest_)); }

int32_t NestBuilder::add_buffer(ElementType type, int64_t elements) {
  nest_.buffers.push_back({type, elements});
  return static_cast<int32_t>(nest_.buffers.size()) - 1;
}

NodeId NestBuilder::argument(ElementType type) {
  return place({.kind = NodeKind::kArgument, .type = type, .slot = arguments_++}, 0);
}

Function NestBuilder::take_function(std::span<const NodeId> results) {
  LT_ASSERT(nest_.loops.empty() && nest_.stores.empty(), "a function of a nest has no loops and stores");
  return {std::move(nest_.nodes), {results.begin(), results.end()}, arguments_};
}

int32_t NestBuilder::add_block(int32_t parent, int32_t loop) {
  nest_.blocks.push_back({parent, loop, {}});
  return static_cast<int32_t>(nest_.blocks.size()) - 1;
}

int32_t NestBuilder::inner_block(int32_t a, int32_t b) const {
  if (stands_in(nest_, a, b)) return a;
  LT_ASSERT(stands_in(nest_, b, a), "a node needs values of two blocks, neither of which lies in the other");
  return b;
}

int32_t NestBuilder::block_of(const Affine& affine) const {
  int32_t block = 0;
  for (const auto& term : affine.terms) block = inner_block(block, node(term.atom).block);
  return block;
}

int32_t NestBuilder::block_of(const Index& index) const {
  int32_t block = 0;
  for (const Affine& affine : index) block = inner_block(block, block_of(affine));
  return block;
}

NodeId NestBuilder::place(Node node, int32_t block) {
  node.block = block;
  if (node.least == INT64_MIN && node.greatest == INT64_MAX) {
    const Bounds range = range_of(node.type);
    node.least = range.least;
    node.greatest = range.greatest;
  }
  const auto id = static_cast<NodeId>(nest_.nodes.size());
  const bool is_item = node.kind == NodeKind::kAffine || node.kind == NodeKind::kOperation ||
                       node.kind == NodeKind::kFma || node.kind == NodeKind::kTable || node.kind == NodeKind::kLoad;
  nest_.nodes.push_back(std::move(node));
  if (is_item) nest_.blocks[block].items.push_back({Item::kNode, id});
  return id;
}

NodeId NestBuilder::make(Node node) {
  NodeKey key = key_of(node);
  if (const auto found = shared_->made.find(key); found != shared_->made.end()) return found->second;
  int32_t block = block_of(node.affine);
  for (const NodeId operand : node.operands) block = inner_block(block, this->node(operand).block);
  LT_ASSERT(inner_block(block, block_) == block_, "a node is made outside of the loop that its operands need");
  const NodeId id = place(std::move(node), block);
  shared_->made.emplace(std::move(key), id);
  return id;
}

NodeId NestBuilder::constant(ElementType type, ElementBits bits) {
  Node node{.kind = NodeKind::kConstant, .type = type, .bits = bits};
  if (is_integral(type) || type == ElementType::kPred) {
    const int64_t value = integer_of_bits(type, bits);
    if (type != ElementType::kU64 || value >= 0) node.least = node.greatest = value;
  }
  return make(std::move(node));
}

NodeId NestBuilder::constant(const Literal& scalar) {
  ElementBits bits{};
  LT_ASSERT(scalar.shape().is_array() && scalar.size() == 1, "a constant of a nest is one element");
  std::memcpy(bits.data(), scalar.bytes().data(), static_cast<size_t>(stored_bytes(scalar.shape().type)));
  return constant(scalar.shape().type, bits);
}

NodeId NestBuilder::number(ElementType type, double value) {
  ElementBits bits{};
  dispatch(type, [&]<class T>() {
    T element{};
    if constexpr (std::is_same_v<T, std::complex<float>>) {
      element = static_cast<float>(value);
    } else if constexpr (std::is_convertible_v<T, float> && !std::is_arithmetic_v<T> &&
                         !std::is_convertible_v<T, int64_t>) {
      element = T(static_cast<float>(value));
    } else {
      element = static_cast<T>(value);
    }
    std::memcpy(bits.data(), &element, sizeof(T));
  });
  return constant(type, bits);
}

NodeId NestBuilder::integer(ElementType type, int64_t value) {
  if (is_integral(type) || type == ElementType::kPred) return constant(type, bits_of_integer(type, value));
  return number(type, static_cast<double>(value));
}

std::optional<int64_t> NestBuilder::known_integer(NodeId id) const {
  const Node& value = node(id);
  if (value.kind != NodeKind::kConstant || !(is_integral(value.type) || value.type == ElementType::kPred)) return {};
  return integer_of_bits(value.type, value.bits);
}

NodeId NestBuilder::operation(Opcode opcode, ElementType type, std::span<const NodeId> operands) {
  if (opcode == Opcode::kCopy && node(operands[0]).type == type) return operands[0];
  if (const auto affine = in_affine_form(opcode, type, operands)) return *affine;
  Node made{.kind = NodeKind::kOperation, .opcode = opcode, .type = type};
  made.operands.assign(operands.begin(), operands.end());
  if (const auto simple = simplified(made)) return *simple;
  if (const auto constant = folded(made)) return *constant;
  if (const auto better = regrouped(*this, made)) return *better;
  const Bounds bounds = bounds_of_operation(made);
  made.least = bounds.least;
  made.greatest = bounds.greatest;
  return make(std::move(made));
}

NodeId NestBuilder::select(NodeId predicate, NodeId then, NodeId otherwise) {
  return operation(Opcode::kSelect, node(then).type, {predicate, then, otherwise});
}

NodeId NestBuilder::convert(NodeId value, ElementType type) {
  return node(value).type == type ? value : operation(Opcode::kConvert, type, {value});
}

NodeId NestBuilder::reduce_precision(NodeId value, ReducePrecisionAttributes how) {
  Node made{.kind = NodeKind::kOperation,
            .opcode = Opcode::kReducePrecision,
            .type = node(value).type,
            .reduce_precision = how};
  made.operands = {value};
  if (const auto constant = folded(made)) return *constant;
  return make(std::move(made));
}

NodeId NestBuilder::fma(NodeId a, NodeId b, NodeId c) {
  Node made{.kind = NodeKind::kFma, .type = node(a).type};
  made.operands = {a, b, c};
  return make(std::move(made));
}

std::optional<NodeId> NestBuilder::folded(const Node& operation) {
  std::vector<const Node*> operands;
  for (const NodeId operand : operation.operands) {
    if (!is_constant(operand)) return {};
    operands.push_back(&node(operand));
  }
  if (!shared_->fold) return {};
  const auto bits = shared_->fold(operation, operands);
  if (!bits) return {};
  return constant(operation.type, *bits);
}

NodeId NestBuilder::load(int32_t buffer, const Affine& element, bool fresh) {
  NestBuffer& from = nest_.buffers[buffer];
  if (from.elements == 0) return constant(from.type, {});  // in a loop that never runs
  from.read = true;
  Node made{.kind = NodeKind::kLoad, .type = from.type, .buffer = buffer, .affine = element};
  return fresh ? place(std::move(made), block_) : make(std::move(made));
}

void NestBuilder::store(int32_t buffer, const Affine& element, NodeId value, NodeId guard) {
  if (guard != kNoId) {
    if (const auto known = known_integer(guard)) {
      if (*known == 0) return;
      guard = kNoId;
    }
  }
  nest_.buffers[buffer].written = true;
  nest_.stores.push_back({buffer, element, value, guard, block_});
  nest_.blocks[block_].items.push_back({Item::kStore, static_cast<int32_t>(nest_.stores.size()) - 1});
}

std::vector<Cut> NestBuilder::cuts() const { return {shared_->cuts.begin(), shared_->cuts.end()}; }

bool NestBuilder::has_mixed_cuts() const { return shared_->has_mixed_cuts; }

}  // namespace lowtide::engine
