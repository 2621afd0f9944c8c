#include "ops/execute.h"

#include <fmt/format.h>

#include <cstring>

#include "base/status.h"
#include "ops/evaluate.h"

namespace lowtide::engine {
namespace {

class Execution {
 public:
  Execution(const Nest& nest, std::span<void* const> buffers)
      : nest_(nest), buffers_(buffers), values_(nest.nodes.size()), evaluators_(nest.nodes.size()) {
    for (size_t n = 0; n < nest.nodes.size(); ++n) {
      const Node& node = nest.nodes[n];
      if (node.kind == NodeKind::kConstant) values_[n] = node.bits;
      if (node.kind != NodeKind::kOperation && node.kind != NodeKind::kFma) continue;
      std::vector<ElementType> types;
      for (const NodeId operand : node.operands) types.push_back(nest.nodes[operand].type);
      evaluators_[n].emplace(node, types);
    }
  }

  void run() { run_block(0); }

 private:
  ElementBits& value(NodeId id) { return values_[id]; }

  int64_t value(const Affine& sum) {
    auto total = static_cast<uint64_t>(sum.constant);
    for (const auto& term : sum.terms) total += static_cast<uint64_t>(term.coefficient) * value(term.atom)[0];
    return static_cast<int64_t>(total);
  }

  /// The address of an element.
  std::byte* element(int32_t buffer, const Affine& index) {
    const NestBuffer& of = nest_.buffers[buffer];
    const int64_t at = value(index);
    LT_ASSERT(at >= 0 && at < of.elements, fmt::format("element {} of buffer {} of {}", at, buffer, of.elements));
    return static_cast<std::byte*>(buffers_[buffer]) + at * stored_bytes(of.type);
  }

  void run_node(NodeId id) {
    const Node& node = nest_.nodes[id];
    switch (node.kind) {
      case NodeKind::kAffine: value(id) = {static_cast<uint64_t>(value(node.affine)), 0}; break;
      case NodeKind::kLoad: {
        ElementBits bits{};
        std::memcpy(bits.data(), element(node.buffer, node.affine), static_cast<size_t>(stored_bytes(node.type)));
        value(id) = bits;
        break;
      }
      case NodeKind::kTable: {
        const int64_t index = integer_of_bits(nest_.nodes[node.operands[0]].type, value(node.operands[0]));
        value(id) = {node.table->elements.at(static_cast<size_t>(index - node.table->first)), 0};
        break;
      }
      default: {
        operands_.clear();
        for (const NodeId operand : node.operands) operands_.push_back(value(operand));
        const auto result = evaluators_[id]->run(operands_);
        LT_ASSERT(result, fmt::format("{} of {} has no definition", opcode_name(node.opcode), type_name(node.type)));
        value(id) = *result;
      }
    }
  }

  void run_block(int32_t block) {
    for (const Item& item : nest_.blocks[block].items) {
      if (item.kind == Item::kNode) {
        run_node(item.id);
      } else if (item.kind == Item::kLoop) {
        run_loop(item.id);
      } else {
        const Store& store = nest_.stores[item.id];
        if (store.guard != kNoId && value(store.guard)[0] == 0) continue;
        const auto bytes = static_cast<size_t>(stored_bytes(nest_.buffers[store.buffer].type));
        std::memcpy(element(store.buffer, store.index), value(store.value).data(), bytes);
      }
    }
  }

  void run_loop(int32_t id) {
    const Loop& loop = nest_.loops[id];
    std::vector<ElementBits> carried;
    for (const Carried& slot : loop.carried) carried.push_back(value(slot.initial));
    const auto set = [&](NodeKind kind) {
      for (size_t n = 0; n < nest_.nodes.size() && !carried.empty(); ++n) {
        const Node& node = nest_.nodes[n];
        if (node.kind == kind && node.loop == id) values_[n] = carried[node.slot];
      }
    };
    for (int64_t i = 0; loop.kind == LoopKind::kWhile || i < loop.extent; ++i) {
      if (loop.index != kNoId) value(loop.index) = {static_cast<uint64_t>(i), 0};
      set(NodeKind::kCarried);
      if (loop.head != kNoId) {
        run_block(loop.head);
        if (value(loop.condition)[0] == 0) break;
      }
      run_block(loop.body);
      for (size_t k = 0; k < carried.size(); ++k) carried[k] = value(loop.carried[k].next);
    }
    set(NodeKind::kResult);
  }

  const Nest& nest_;
  std::span<void* const> buffers_;
  std::vector<ElementBits> values_, operands_;
  std::vector<std::optional<NodeEvaluator>> evaluators_;
};

}  // namespace

void execute(const Nest& nest, std::span<void* const> buffers) { Execution(nest, buffers).run(); }

}  // namespace lowtide::engine
