#include "codegen/pieces.h"

namespace lowtide::engine {
namespace {

class Needs {
 public:
  explicit Needs(const Nest& nest) : nest_(nest), nodes_(nest.nodes.size(), false), loops_(nest.loops.size(), false) {}

  void need(NodeId id) {
    if (id == kNoId || nodes_[id]) return;
    nodes_[id] = true;
    const Node& node = nest_.nodes[id];
    for (const NodeId operand : node.operands) need(operand);
    for (const auto& term : node.affine.terms) need(term.atom);
    if (node.kind == NodeKind::kResult) need_loop(node.loop);
  }
  void need_loop(int32_t id) {
    if (loops_[id]) return;
    loops_[id] = true;
    const Loop& loop = nest_.loops[id];
    for (const Carried& carried : loop.carried) need(carried.initial), need(carried.next);
    need(loop.condition);
    if (loop.head != kNoId) need_block(loop.head);
    need_block(loop.body);
  }
  bool needs(const Item& item) const {
    return item.kind == Item::kNode ? nodes_[item.id] : item.kind == Item::kLoop && loops_[item.id];
  }

 private:
  void need_block(int32_t block) {
    for (const Item& item : nest_.blocks[block].items) {
      if (item.kind == Item::kNode) need(item.id);
      if (item.kind == Item::kLoop) need_loop(item.id);
      if (item.kind != Item::kStore) continue;
      const Store& store = nest_.stores[item.id];
      need(store.value);
      need(store.guard);
      for (const auto& term : store.index.terms) need(term.atom);
    }
  }

  const Nest& nest_;
  std::vector<bool> nodes_, loops_;
};

bool stores(const Nest& nest, int32_t loop) {
  const Loop& l = nest.loops[loop];
  for (const int32_t block : {l.head, l.body}) {
    if (block == kNoId) continue;
    for (const Item& item : nest.blocks[block].items) {
      if (item.kind == Item::kStore || (item.kind == Item::kLoop && stores(nest, item.id))) return true;
    }
  }
  return false;
}

bool has_results(const Nest& nest, int32_t loop) {
  for (const Node& node : nest.nodes) {
    if (node.kind == NodeKind::kResult && node.loop == loop) return true;
  }
  return false;
}

}  // namespace

std::vector<PiecePlan> pieces_of(const Nest& nest) {
  const auto& items = nest.blocks[0].items;
  bool whole = false;
  for (const Item& item : items) {
    whole = whole || item.kind == Item::kStore ||
            (item.kind == Item::kLoop && stores(nest, item.id) &&
             (nest.loops[item.id].kind == LoopKind::kWhile || has_results(nest, item.id)));
  }
  if (whole) return {{.items = items, .figures = {.extent = 1, .sequential = true}}};
  std::vector<PiecePlan> pieces;
  for (size_t at = 0; at < items.size(); ++at) {
    const Item& item = items[at];
    if (item.kind != Item::kLoop || !stores(nest, item.id)) continue;
    Needs needs(nest);
    needs.need_loop(item.id);
    PiecePlan piece{.loop = item.id};
    for (size_t before = 0; before < at; ++before) {
      if (needs.needs(items[before])) piece.items.push_back(items[before]);
    }
    piece.items.push_back(item);
    const Loop& loop = nest.loops[item.id];
    piece.figures = {.extent = loop.extent, .sequential = loop.kind != LoopKind::kParallel};
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace lowtide::engine
