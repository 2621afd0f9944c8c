#include "nest/collapse.h"

#include <algorithm>
#include <span>

#include "nest/compact.h"

namespace lowtide::engine {
namespace {

class Collapse {
 public:
  explicit Collapse(Nest nest) : nest_(std::move(nest)) {}

  Nest run() {
    // inner loops have higher numbers than those around them
    for (size_t id = nest_.loops.size(); id-- > 0;) {
      while (merge_with_inner(static_cast<int32_t>(id))) {
      }
    }
    return without_dead_parts(std::move(nest_));
  }

 private:
  Block& block(int32_t id) { return nest_.blocks[id]; }
  Loop& loop(int32_t id) { return nest_.loops[id]; }

  template <class F>
  void for_each_sum(F f) {
    for (Node& node : nest_.nodes) f(node.affine);
    for (Store& store : nest_.stores) f(store.index);
  }

  bool is_operand(NodeId index) const {
    const auto names = [&](NodeId id) { return id == index; };
    for (const Node& node : nest_.nodes) {
      if (std::any_of(node.operands.begin(), node.operands.end(), names)) return true;
    }
    for (const Store& store : nest_.stores) {
      if (store.value == index) return true;
    }
    for (const Loop& in : nest_.loops) {
      for (const Carried& carried : in.carried) {
        if (carried.initial == index || carried.next == index) return true;
      }
    }
    return false;
  }

  /// Moves the values before the only loop in a piece of one iteration out of the piece, so that each thread computes
  /// them; not if they read memory, which another thread may have written by then.
  void lift_from_single_iteration(int32_t id) {
    const Loop& outer = loop(id);
    if (outer.kind != LoopKind::kParallel || outer.extent != 1 || outer.body == kNoId) return;
    Block& inside = block(outer.body);
    const int32_t around = inside.parent;
    if (around == kNoId || inside.items.empty() || inside.items.back().kind != Item::kLoop || is_operand(outer.index))
      return;
    for (const Item& item : std::span(inside.items).first(inside.items.size() - 1)) {
      if (item.kind != Item::kNode || nest_.nodes[item.id].kind == NodeKind::kLoad) return;
    }
    std::vector<Item>& outside = block(around).items;
    const auto place =
        std::ranges::find_if(outside, [&](const Item& item) { return item.kind == Item::kLoop && item.id == id; });
    if (place == outside.end()) return;
    std::vector<Item> lifted;
    for (const Item& item : inside.items) {
      if (item.kind != Item::kNode || item.id == outer.index) continue;
      nest_.nodes[item.id].block = around;
      lifted.push_back(item);
    }
    outside.insert(place, lifted.begin(), lifted.end());
    std::erase_if(inside.items, [&](const Item& item) { return item.kind == Item::kNode && item.id != outer.index; });
  }

  static bool may_be_merged(const Loop& one) {
    const bool in_order = one.kind == LoopKind::kSequential && one.carried.empty();
    return (one.kind == LoopKind::kParallel || in_order) && one.body != kNoId;
  }

  bool merge_with_inner(int32_t id) {
    lift_from_single_iteration(id);
    Loop& outer = loop(id);
    if (!may_be_merged(outer)) return false;
    const std::vector<Item>& items = block(outer.body).items;
    if (items.size() != 1 || items[0].kind != Item::kLoop) return false;
    Loop& inner = loop(items[0].id);
    if (inner.kind != outer.kind || !may_be_merged(inner)) return false;
    const NodeId far = outer.index, near = inner.index;
    if (is_operand(far)) return false;
    if (outer.extent != 1) {  // an index that is always 0 is removed anyway
      if (is_operand(near)) return false;
      bool linear = true;
      for_each_sum(
          [&](Affine& sum) { linear = linear && sum.coefficient_of(far) == inner.extent * sum.coefficient_of(near); });
      if (!linear) return false;
    }
    for_each_sum([&](Affine& sum) { std::erase_if(sum.terms, [&](const Affine::Term& t) { return t.atom == far; }); });
    // the outer loop takes over the inner one's body and index
    const int32_t body = outer.body;
    block(inner.body).parent = block(body).parent;
    block(inner.body).loop = id;
    Node& index = nest_.nodes[near];
    outer.extent *= inner.extent;
    outer.index = near;
    outer.body = inner.body;
    index.loop = id;
    index.greatest = outer.extent - 1;
    inner = {.kind = outer.kind, .body = body};
    return true;
  }

  Nest nest_;
};

}  // namespace

Nest collapse_loops(const Nest& nest) { return Collapse(nest).run(); }

}  // namespace lowtide::engine
