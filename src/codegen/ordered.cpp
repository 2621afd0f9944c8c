#include "codegen/ordered.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

class Parting {
 public:
  Parting(const Nest& nest, int32_t loop) : nest_(nest), loop_(loop), behind_(nest.nodes.size()) {}

  OrderedLoop run() {
    const Loop& loop = nest_.loops[loop_];
    if (loop.kind != LoopKind::kSequential || !loop.carried.empty()) return {};
    OrderedLoop parts;
    for (const Item& item : block(loop.body).items) {
      const bool is_behind = item.kind == Item::kStore || depends(item);
      if (is_behind && item.kind == Item::kLoop) return {};
      if (is_behind && item.kind == Item::kNode) behind_[item.id] = true;
      (is_behind ? parts.behind : parts.ahead).push_back(item);
    }
    for (const Item& item : parts.behind) keep_operands(item, parts.kept);
    std::sort(parts.kept.begin(), parts.kept.end());
    parts.kept.erase(std::unique(parts.kept.begin(), parts.kept.end()), parts.kept.end());
    return parts;
  }

 private:
  const Block& block(int32_t id) const { return nest_.blocks[id]; }
  bool is_behind(NodeId id) const { return id != kNoId && behind_[id]; }

  bool depends(const Item& item) const {
    if (item.kind == Item::kStore) return true;
    if (item.kind == Item::kNode) {
      const Node& node = nest_.nodes[item.id];
      if (node.kind == NodeKind::kLoad && nest_.buffers[node.buffer].written) return true;
      return std::any_of(node.operands.begin(), node.operands.end(), [&](NodeId id) { return is_behind(id); }) ||
             std::any_of(node.affine.terms.begin(), node.affine.terms.end(),
                         [&](const auto& term) { return is_behind(term.atom); });
    }
    const Loop& loop = nest_.loops[item.id];
    for (const Carried& carried : loop.carried) {
      if (is_behind(carried.initial) || is_behind(carried.next)) return true;
    }
    for (const int32_t inner : {loop.head, loop.body}) {
      if (inner == kNoId) continue;
      const auto& items = block(inner).items;
      if (std::any_of(items.begin(), items.end(), [&](const Item& i) { return depends(i); })) return true;
    }
    return false;
  }

  bool stands_inside(NodeId id) const {
    const Node& node = nest_.nodes[id];
    const int32_t body = nest_.loops[loop_].body;
    return node.kind != NodeKind::kConstant && node.kind != NodeKind::kLoopIndex && node.block == body;
  }
  void keep(NodeId id, std::vector<NodeId>& kept) const {
    if (id != kNoId && !is_behind(id) && stands_inside(id)) kept.push_back(id);
  }
  void keep_operands(const Item& item, std::vector<NodeId>& kept) const {
    if (item.kind == Item::kStore) {
      const Store& store = nest_.stores[item.id];
      keep(store.value, kept), keep(store.guard, kept);
      for (const auto& term : store.index.terms) keep(term.atom, kept);
    } else {
      const Node& node = nest_.nodes[item.id];
      for (const NodeId operand : node.operands) keep(operand, kept);
      for (const auto& term : node.affine.terms) keep(term.atom, kept);
    }
  }

  const Nest& nest_;
  const int32_t loop_;
  std::vector<bool> behind_;  // per node
};

}  // namespace

OrderedLoop take_apart(const Nest& nest, int32_t loop) { return Parting(nest, loop).run(); }

}  // namespace lowtide::engine
