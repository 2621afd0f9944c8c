#include "nest/write_out_short_loops.h"

#include <algorithm>
#include <map>

#include "nest/compact.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostColumns = 4;  ///< more are as well transposed in tiles
constexpr int64_t kFewestRows = 16;
constexpr size_t kMostItems = 8;  ///< of one column

class WriteOut {
 public:
  explicit WriteOut(Nest nest) : nest_(std::move(nest)) {}

  Nest run() {
    bool any = false;
    for (size_t id = 0; id < nest_.loops.size(); ++id) {
      const Loop& rows = nest_.loops[id];
      if (rows.kind != LoopKind::kParallel || rows.body == kNoId || rows.extent < kFewestRows) continue;
      std::vector<Item> items;
      for (const Item& item : std::vector<Item>(block(rows.body).items)) {
        if (item.kind == Item::kLoop && makes_columns(loop(item.id), rows)) {
          write_out(loop(item.id), rows.body, items);
          any = true;
        } else {
          items.push_back(item);
        }
      }
      block(rows.body).items = std::move(items);
    }
    return any ? without_dead_parts(std::move(nest_)) : std::move(nest_);
  }

 private:
  Block& block(int32_t id) { return nest_.blocks[static_cast<size_t>(id)]; }
  const Loop& loop(int32_t id) const { return nest_.loops[static_cast<size_t>(id)]; }

  /// One store, which leaves nothing out between one row and the next.
  bool makes_columns(const Loop& columns, const Loop& rows) {
    if (columns.kind != LoopKind::kParallel || columns.extent < 2 || columns.extent > kMostColumns) return false;
    const std::vector<Item>& items = block(columns.body).items;
    if (items.size() > kMostItems) return false;
    int stores = 0;
    for (const Item& item : items) {
      if (item.kind == Item::kLoop) return false;
      if (item.kind == Item::kStore) {
        const Store& store = nest_.stores[static_cast<size_t>(item.id)];
        const bool fills =
            store.index.coefficient_of(columns.index) == 1 && store.index.coefficient_of(rows.index) == columns.extent;
        if (++stores > 1 || !fills || store.guard != kNoId || store.value == columns.index) return false;
      } else {
        const auto& operands = nest_.nodes[static_cast<size_t>(item.id)].operands;
        if (std::ranges::find(operands, columns.index) != operands.end()) return false;
      }
    }
    return stores == 1;
  }

  /// What each column computes, then the stores of all.
  void write_out(const Loop& columns, int32_t into, std::vector<Item>& items) {
    std::vector<Item> stores;
    for (int64_t column = 0; column < columns.extent; ++column) {
      std::map<NodeId, NodeId> copies;
      const auto in_column = [&](Affine sum) {
        sum.constant += sum.coefficient_of(columns.index) * column;
        std::erase_if(sum.terms, [&](const Affine::Term& term) { return term.atom == columns.index; });
        for (auto& term : sum.terms) term.atom = copy_of(copies, term.atom);
        std::ranges::sort(sum.terms, {}, &Affine::Term::atom);
        return sum;
      };
      for (const Item& item : block(columns.body).items) {
        if (item.kind == Item::kStore) {
          Store store = nest_.stores[static_cast<size_t>(item.id)];
          store = {store.buffer, in_column(store.index), copy_of(copies, store.value), kNoId, into};
          stores.push_back({Item::kStore, static_cast<int32_t>(nest_.stores.size())});
          nest_.stores.push_back(std::move(store));
          continue;
        }
        Node node = nest_.nodes[static_cast<size_t>(item.id)];
        for (NodeId& operand : node.operands) operand = copy_of(copies, operand);
        node.affine = in_column(node.affine);
        node.block = into;
        copies[item.id] = static_cast<NodeId>(nest_.nodes.size());
        items.push_back({Item::kNode, copies[item.id]});
        nest_.nodes.push_back(std::move(node));
      }
    }
    drop_stores_in(columns.body, stores);
    items.insert(items.end(), stores.begin(), stores.end());
  }

  static NodeId copy_of(const std::map<NodeId, NodeId>& copies, NodeId id) {
    const auto copy = copies.find(id);
    return copy == copies.end() ? id : copy->second;
  }

  /// The last of the copies takes the place of the store that was copied: no store may stand nowhere.
  void drop_stores_in(int32_t from, std::vector<Item>& stores) {
    for (const Item& item : block(from).items) {
      if (item.kind != Item::kStore) continue;
      nest_.stores[static_cast<size_t>(item.id)] = std::move(nest_.stores.back());
      nest_.stores.pop_back();
      stores.back().id = item.id;
    }
    block(from).items.clear();
  }

  Nest nest_;
};

}  // namespace

Nest write_out_short_loops(Nest nest) { return WriteOut(std::move(nest)).run(); }

}  // namespace lowtide::engine
