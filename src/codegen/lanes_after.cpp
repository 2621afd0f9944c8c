#include "codegen/lanes_after.h"

#include <algorithm>
#include <iterator>

namespace lowtide::engine {
namespace {

bool is_loop(const Item& item) { return item.kind == Item::kLoop; }

/// The nodes and stores of the body that the stores need, without what only its loops need.
std::vector<Item> needed_by_stores(const Nest& nest, const std::vector<Item>& items) {
  std::vector<bool> is_needed(nest.nodes.size(), false);
  const auto need = [&](NodeId id) {
    if (id != kNoId) is_needed[id] = true;
  };
  const auto need_all = [&](const Affine& index) {
    for (const Affine::Term& term : index.terms) need(term.atom);
  };
  std::vector<Item> needed;
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (is_loop(*item)) continue;
    if (item->kind == Item::kStore) {
      const Store& store = nest.stores[item->id];
      need(store.value), need(store.guard), need_all(store.index);
    } else {
      if (!is_needed[item->id]) continue;
      const Node& node = nest.nodes[item->id];
      std::ranges::for_each(node.operands, need);
      need_all(node.affine);
    }
    needed.push_back(*item);
  }
  std::ranges::reverse(needed);
  return needed;
}

}  // namespace

LanesAfter split_after_reductions(const Nest& nest, int32_t loop) {
  const Loop& outer = nest.loops[loop];
  if (outer.kind != LoopKind::kParallel || outer.body == kNoId) return {};
  const std::vector<Item>& items = nest.blocks[outer.body].items;
  const auto end_of_rows = std::find_if(items.rbegin(), items.rend(), is_loop).base();
  LanesAfter parts;
  parts.rows = {items.begin(), end_of_rows};
  for (const Item& item : parts.rows) {
    if (item.kind == Item::kStore) return {};
    if (!is_loop(item)) continue;
    if (nest.loops[item.id].kind != LoopKind::kReduce) return {};
    for (size_t id = 0; id < nest.nodes.size(); ++id) {
      const Node& node = nest.nodes[id];
      if (node.kind != NodeKind::kResult || node.loop != item.id) continue;
      if (!is_floating(node.type) && !(is_integral(node.type) && type_bits(node.type) == 32)) return {};
      parts.results.push_back(static_cast<NodeId>(id));
    }
  }
  if (parts.splits()) parts.after = needed_by_stores(nest, items);
  return parts;
}

}  // namespace lowtide::engine
