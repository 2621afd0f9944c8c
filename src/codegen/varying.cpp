#include "codegen/kernel_plan.h"

namespace lowtide::engine {
namespace {

class Varying {
 public:
  Varying(const Nest& nest, int32_t lane_loop)
      : nest_(nest), lane_loop_(lane_loop), varying_(nest.nodes.size(), false) {
    for (size_t i = 0; i < nest.nodes.size(); ++i) {
      const Node& node = nest.nodes[i];
      const bool of_lane_loop = node.loop == lane_loop;
      if (of_lane_loop && (node.kind == NodeKind::kLoopIndex || node.kind == NodeKind::kCarried)) varying_[i] = true;
    }
  }
  std::vector<bool> find() {
    do {
      changed_ = false;
      visit(nest_.loops[lane_loop_].body);
    } while (changed_);
    return std::move(varying_);
  }

 private:
  bool is(NodeId id) const { return id != kNoId && varying_[id]; }
  void mark(NodeId id) {
    if (!is(id)) varying_[id] = changed_ = true;
  }
  void visit(int32_t block) {
    for (const Item& item : nest_.blocks[block].items) {
      if (item.kind == Item::kLoop) visit_loop(item.id);
      if (item.kind != Item::kNode) continue;
      const Node& node = nest_.nodes[item.id];
      for (const NodeId operand : node.operands) {
        if (is(operand)) mark(item.id);
      }
      for (const auto& term : node.affine.terms) {
        if (is(term.atom)) mark(item.id);
      }
    }
  }
  void visit_loop(int32_t id) {
    const Loop& loop = nest_.loops[id];
    if (loop.head != kNoId) visit(loop.head);
    visit(loop.body);
    const bool all = loop.kind == LoopKind::kWhile && is(loop.condition);
    for (size_t i = 0; i < nest_.nodes.size(); ++i) {
      const Node& node = nest_.nodes[i];
      if (node.loop != id || (node.kind != NodeKind::kCarried && node.kind != NodeKind::kResult)) continue;
      const Carried& carried = loop.carried[node.slot];
      if (all || is(carried.initial) || is(carried.next)) mark(static_cast<NodeId>(i));
    }
  }

  const Nest& nest_;
  const int32_t lane_loop_;
  std::vector<bool> varying_;
  bool changed_ = false;
};

}  // namespace

std::vector<bool> varying_nodes(const Nest& nest, int32_t lane_loop) { return Varying(nest, lane_loop).find(); }

}  // namespace lowtide::engine
