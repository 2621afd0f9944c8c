#include "nest/join_reductions.h"

#include <algorithm>
#include <map>
#include <set>

#include "nest/blocks.h"
#include "nest/compact.h"
#include "nest/functions.h"
#include "nest/weight.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kLeastTerms = 16;
/// Reductions are joined if they share operations of this weight, or loads of a row that doesn't stay in the
/// first-level cache.
constexpr int kLeastSharedWeight = 6;
constexpr int64_t kLongRow = int64_t{16} << 10;  ///< bytes

class JoinReductions {
 public:
  explicit JoinReductions(Nest nest) : nest_(std::move(nest)) {}

  Nest run() {
    join_in(0);
    return any_ ? without_dead_parts(std::move(nest_)) : std::move(nest_);
  }

 private:
  /// What in the loop that is joined corresponds to what in the other; nodes outside both correspond to themselves.
  using Same = std::map<NodeId, NodeId>;

  Node& node(NodeId id) { return nest_.nodes[id]; }
  const Node& node(NodeId id) const { return nest_.nodes[id]; }
  Block& block(int32_t id) { return nest_.blocks[id]; }
  const Block& block(int32_t id) const { return nest_.blocks[id]; }
  Loop& loop(int32_t id) { return nest_.loops[id]; }
  const Loop& loop(int32_t id) const { return nest_.loops[id]; }
  static NodeId same_as(const Same& same, NodeId id) {
    const auto known = same.find(id);
    return known == same.end() ? id : known->second;
  }

  void join_in(int32_t id) {
    for (size_t second = 0; second < block(id).items.size(); ++second) {
      if (!folds(block(id).items[second])) continue;
      for (size_t first = 0; first < second; ++first) {
        if (!join(id, first, second)) continue;
        second = first;  // whose loop has changed, and everything after it has moved
        any_ = true;
        break;
      }
    }
    for (const Item& item : std::vector<Item>(block(id).items)) {
      if (item.kind != Item::kLoop) continue;
      for (const int32_t inner : {loop(item.id).head, loop(item.id).body})
        if (inner != kNoId) join_in(inner);
    }
  }

  bool folds(const Item& item) const {
    if (item.kind != Item::kLoop) return false;
    const Loop& of = loop(item.id);
    return of.kind == LoopKind::kReduce && of.extent >= kLeastTerms && of.combine && !of.one_by_one &&
           !of.carried.empty() && of.neutral.size() == of.carried.size() && !stores(item);
  }

  bool stores(const Item& item) const {
    if (item.kind != Item::kLoop) return item.kind == Item::kStore;
    return std::ranges::any_of(block(loop(item.id).body).items, [&](const Item& inner) { return stores(inner); });
  }

  bool join(int32_t id, size_t first, size_t second) {
    const std::vector<Item> items = block(id).items;
    const Item into = items[first], from = items[second];
    if (!folds(into) || !folds(from) || loop(into.id).extent != loop(from.id).extent) return false;
    Same same;
    if (!is_worth(into.id, from.id, same)) return false;
    // What the second needs of the items between moves before both.
    std::set<NodeId> made = made_by(into), needed = needed_by(from);
    std::vector<Item> before, after;
    for (size_t k = second; k-- > first + 1;) {
      if (stores(items[k])) return false;  // of what the second may read
      const std::set<NodeId> own = made_by(items[k]);
      const bool is_needed = std::ranges::any_of(own, [&](NodeId n) { return needed.contains(n); });
      if (is_needed) needed.merge(needed_by(items[k]));
      (is_needed ? before : after).push_back(items[k]);
    }
    if (std::ranges::any_of(made, [&](NodeId n) { return needed.contains(n); })) return false;
    std::vector<Item> ordered(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(first));
    ordered.insert(ordered.end(), before.rbegin(), before.rend());
    ordered.push_back(into);
    ordered.insert(ordered.end(), after.rbegin(), after.rend());
    ordered.insert(ordered.end(), items.begin() + static_cast<std::ptrdiff_t>(second) + 1, items.end());
    block(id).items = std::move(ordered);
    move_into(into.id, from.id, same);
    return true;
  }

  /// The nodes of its own block that an item makes.
  std::set<NodeId> made_by(const Item& item) const {
    if (item.kind == Item::kNode) return {item.id};
    std::set<NodeId> made;
    for (size_t n = 0; item.kind == Item::kLoop && n < nest_.nodes.size(); ++n) {
      if (nest_.nodes[n].kind == NodeKind::kResult && nest_.nodes[n].loop == item.id)
        made.insert(static_cast<NodeId>(n));
    }
    return made;
  }

  /// Of an item that stores nothing.
  std::set<NodeId> needed_by(const Item& item) const {
    std::set<NodeId> needed;
    if (item.kind == Item::kNode) {
      needed.insert(node(item.id).operands.begin(), node(item.id).operands.end());
      for (const Affine::Term& term : node(item.id).affine.terms) needed.insert(term.atom);
    } else {
      const Loop& of = loop(item.id);
      for (const Carried& carried : of.carried) needed.insert({carried.initial, carried.next});
      for (const int32_t inner : {of.head, of.body}) {
        if (inner == kNoId) continue;
        for (const Item& i : block(inner).items) needed.merge(needed_by(i));
      }
    }
    return needed;
  }

  /// Do the loops share enough? Fills `same` with what of the second the first one computes, too.
  bool is_worth(int32_t into, int32_t from, Same& same) const {
    same[loop(from).index] = loop(into).index;
    int shared = 0;
    int64_t row = 0;
    for (const Item& item : block(loop(from).body).items) {
      const Item* equal = equal_in(loop(into).body, item, same);
      if (equal == nullptr) continue;
      if (item.kind == Item::kLoop) {
        shared += kLeastSharedWeight;
        continue;
      }
      const Node& term = node(item.id);
      same[item.id] = equal->id;
      shared += weight_of(term);
      if (term.kind == NodeKind::kLoad && term.affine.coefficient_of(loop(from).index) != 0)
        row += loop(from).extent * stored_bytes(term.type);
    }
    return shared >= kLeastSharedWeight || row >= kLongRow;
  }

  /// The item of the block that computes what this one does.
  const Item* equal_in(int32_t id, const Item& item, Same& same) const {
    const auto equals = [&](const Item& other) {
      if (other.kind != item.kind) return false;
      return item.kind == Item::kNode ? equal_nodes(node(other.id), node(item.id), same)
                                      : equal_loops(other.id, item.id, same);
    };
    const auto& items = block(id).items;
    const auto found = std::ranges::find_if(items, equals);
    return found == items.end() ? nullptr : &*found;
  }

  static bool equal_nodes(const Node& a, const Node& b, const Same& same) {
    const bool alike = a.kind == b.kind && a.opcode == b.opcode && a.type == b.type && a.buffer == b.buffer &&
                       a.bits == b.bits && a.table == b.table && a.slot == b.slot &&
                       a.compare.direction == b.compare.direction && a.compare.type == b.compare.type &&
                       a.reduce_precision.exponent_bits == b.reduce_precision.exponent_bits &&
                       a.reduce_precision.mantissa_bits == b.reduce_precision.mantissa_bits &&
                       a.affine.constant == b.affine.constant && a.operands.size() == b.operands.size() &&
                       a.affine.terms.size() == b.affine.terms.size();
    if (!alike) return false;
    for (size_t k = 0; k < a.operands.size(); ++k)
      if (a.operands[k] != same_as(same, b.operands[k])) return false;
    return std::ranges::all_of(b.affine.terms, [&](const Affine::Term& term) {
      return a.affine.coefficient_of(same_as(same, term.atom)) == term.coefficient;
    });
  }

  /// Loops with the same items in the same order; adds what they make to `same`.
  bool equal_loops(int32_t a, int32_t b, Same& same) const {
    const Loop &of_a = loop(a), &of_b = loop(b);
    if (of_a.kind != LoopKind::kReduce || of_b.kind != LoopKind::kReduce || of_a.extent != of_b.extent) return false;
    const auto &items_a = block(of_a.body).items, &items_b = block(of_b.body).items;
    if (of_a.carried.size() != of_b.carried.size() || items_a.size() != items_b.size()) return false;
    Same inside = same;
    inside[of_b.index] = of_a.index;
    add_parts(NodeKind::kCarried, a, b, inside);
    for (size_t k = 0; k < items_a.size(); ++k) {
      if (items_a[k].kind != Item::kNode || items_b[k].kind != Item::kNode) return false;
      if (!equal_nodes(node(items_a[k].id), node(items_b[k].id), inside)) return false;
      inside[items_b[k].id] = items_a[k].id;
    }
    for (size_t k = 0; k < of_a.carried.size(); ++k) {
      const Carried &x = of_a.carried[k], &y = of_b.carried[k];
      if (x.initial != same_as(inside, y.initial) || x.next != same_as(inside, y.next)) return false;
    }
    add_parts(NodeKind::kResult, a, b, inside);
    same = std::move(inside);
    return true;
  }

  /// Adds the carried values or the results of two loops, slot by slot.
  void add_parts(NodeKind kind, int32_t a, int32_t b, Same& same) const {
    std::map<int32_t, NodeId> parts;
    const auto each = [&](int32_t of, auto&& take) {
      for (size_t n = 0; n < nest_.nodes.size(); ++n) {
        if (nest_.nodes[n].kind == kind && nest_.nodes[n].loop == of) take(nest_.nodes[n].slot, static_cast<NodeId>(n));
      }
    };
    each(a, [&](int32_t slot, NodeId id) { parts[slot] = id; });
    each(b, [&](int32_t slot, NodeId id) {
      if (const auto other = parts.find(slot); other != parts.end()) same[id] = other->second;
    });
  }

  void move_into(int32_t into, int32_t from, const Same& same) {
    const auto slots = static_cast<int32_t>(loop(into).carried.size());
    const int32_t body = loop(into).body, old = loop(from).body;
    move_block(nest_, old, body, [&](NodeId id) { return same_as(same, id); });
    for (Node& each : nest_.nodes) {
      const bool is_part = each.kind == NodeKind::kCarried || each.kind == NodeKind::kResult;
      if (!is_part || each.loop != from) continue;
      each.loop = into;
      each.slot += slots;
    }
    for (const Item& item : std::exchange(block(old).items, {})) {
      const bool is_known = item.kind == Item::kNode ? same.contains(item.id) : is_dropped(item.id, same);
      if (!is_known) block(body).items.push_back(item);
    }
    Loop &joined = loop(into), &ended = loop(from);
    joined.combine = combine_apart(*joined.combine, *ended.combine, slots, static_cast<int32_t>(ended.carried.size()));
    joined.carried.insert(joined.carried.end(), ended.carried.begin(), ended.carried.end());
    joined.neutral.insert(joined.neutral.end(), ended.neutral.begin(), ended.neutral.end());
    ended.carried.clear();
    ended.neutral.clear();
  }

  /// Is the loop one whose results are those of another?
  bool is_dropped(int32_t id, const Same& same) const { return same.contains(loop(id).index); }

  Nest nest_;
  bool any_ = false;
};

}  // namespace

Nest join_reductions(Nest nest) { return JoinReductions(std::move(nest)).run(); }

}  // namespace lowtide::engine
