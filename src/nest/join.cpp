#include "nest/join.h"

#include <algorithm>
#include <map>
#include <optional>

#include "nest/blocks.h"
#include "nest/compact.h"
#include "nest/reach.h"

namespace lowtide::engine {
namespace {

/// Joining shorter loops doesn't pay.
constexpr int64_t kLeastExtent = 16;

class Join {
 public:
  explicit Join(Nest nest) : nest_(std::move(nest)) {}

  Nest run() {
    if (!join_in(0)) return std::move(nest_);
    return without_dead_parts(std::move(nest_));
  }

 private:
  /// The elements that a loop's iterations store, by buffer.
  using Rows = std::map<int32_t, Reach>;
  struct Joined {
    int32_t loop = kNoId;
    Rows rows;
  };

  Block& block(int32_t id) { return nest_.blocks[id]; }
  Loop& loop(int32_t id) { return nest_.loops[id]; }

  bool join_in(int32_t id) {
    std::vector<Joined> kept;
    bool joined = false;
    std::vector<Item> items;
    for (const Item& item : std::vector<Item>(block(id).items)) {
      items.push_back(item);
      std::optional<Rows> rows = item.kind == Item::kLoop ? rows_of(item.id) : std::nullopt;
      if (!rows) continue;
      const auto beside = std::ranges::find_if(kept, [&](const Joined& other) {
        return loop(other.loop).extent == loop(item.id).extent && are_parts_of_rows(*rows, other.rows);
      });
      if (beside == kept.end()) {
        kept.push_back({item.id, std::move(*rows)});
        continue;
      }
      // The joined loop is placed here, after everything that either one needs.
      std::erase_if(items, [&](const Item& i) { return i.kind == Item::kLoop && i.id == beside->loop; });
      items.back().id = beside->loop;
      move_into(beside->loop, item.id);
      beside->rows = together(*rows, beside->rows);
      joined = true;
    }
    block(id).items = std::move(items);
    for (const Joined& each : kept) joined |= join_in(loop(each.loop).body);
    return joined;
  }

  static Rows together(Rows rows, const Rows& others) {
    for (const auto& [buffer, row] : others) rows.at(buffer).include(row);
    return rows;
  }

  static bool are_parts_of_rows(const Rows& rows, const Rows& others) {
    const auto alike = [](const auto& a, const auto& b) {
      return a.first == b.first && a.second.step == b.second.step;
    };
    if (!std::ranges::equal(rows, others, alike)) return false;
    return std::ranges::all_of(together(rows, others), [](const auto& of) {
      const Reach& row = of.second;
      return row.greatest - row.least < (row.step < 0 ? -row.step : row.step);
    });
  }

  /// None: the loop isn't joined.
  std::optional<Rows> rows_of(int32_t id) const {
    const Loop& of = nest_.loops[id];
    if (of.kind != LoopKind::kParallel || of.extent < kLeastExtent) return {};
    Rows rows;
    bool computes = false;
    for (const Store& store : nest_.stores) {
      if (!stands_in(nest_, store.block, of.body)) continue;
      if (store.guard != kNoId) return {};
      const bool counts = std::ranges::all_of(store.index.terms, [&](const Affine::Term& term) {
        return nest_.nodes[term.atom].kind == NodeKind::kLoopIndex;
      });
      const Reach row = reach_of(nest_, store.index, of.index);
      const auto [known, fresh] = rows.try_emplace(store.buffer, row);
      if (!counts || row.step == 0 || known->second.step != row.step) return {};
      known->second.include(row);
      computes |= nest_.nodes[store.value].kind != NodeKind::kLoad;
    }
    if (!computes) return {};
    return rows;
  }

  void move_into(int32_t into, int32_t from) {
    const int32_t body = loop(into).body, old = loop(from).body;
    const NodeId index = loop(into).index, renamed = loop(from).index;
    move_block(nest_, old, body, [&](NodeId id) { return id == renamed ? index : id; });
    const std::vector<Item> items = std::move(block(old).items);
    block(old).items.clear();
    block(body).items.insert(block(body).items.end(), items.begin(), items.end());
  }

  Nest nest_;
};

}  // namespace

Nest join_loops(Nest nest) { return Join(std::move(nest)).run(); }

}  // namespace lowtide::engine
