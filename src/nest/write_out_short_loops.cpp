#include "nest/write_out_short_loops.h"

#include <algorithm>
#include <map>

#include "nest/compact.h"
#include "nest/functions.h"
#include "nest/weight.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostColumns = 4;  ///< with more, transposing in tiles is as good
constexpr int64_t kFewestRows = 16;
constexpr size_t kMostItems = 8;  ///< of one column
/// Columns share a reduction's loop if they share operations of its terms of at least this weight: recomputing loads
/// and a product or two costs no more.
constexpr int kLeastShared = 8;

class WriteOut {
 public:
  explicit WriteOut(Nest nest) : nest_(std::move(nest)) {}

  Nest run() {
    bool any = false;
    for (size_t id = 0; id < nest_.loops.size(); ++id) {
      const Loop rows = nest_.loops[id];
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
  /// The copy of a node for one column; columns share a node without a copy.
  using Copies = std::map<NodeId, NodeId>;

  Node& node(NodeId id) { return nest_.nodes[id]; }
  Block& block(int32_t id) { return nest_.blocks[id]; }
  Loop& loop(int32_t id) { return nest_.loops[id]; }

  /// Does the loop have one store, without gaps between rows, and at most one inner loop: a reduction whose terms share
  /// costly operations in all columns?
  bool makes_columns(const Loop& columns, const Loop& rows) {
    if (columns.kind != LoopKind::kParallel || columns.extent < 2 || columns.extent > kMostColumns) return false;
    const std::vector<Item>& items = block(columns.body).items;
    if (items.size() > kMostItems) return false;
    int stores = 0, loops = 0;
    for (const Item& item : items) {
      if (item.kind == Item::kLoop) {
        if (++loops > 1 || !shares_terms(columns, item.id)) return false;
      } else if (item.kind == Item::kStore) {
        const Store& store = nest_.stores[item.id];
        const bool fills =
            store.index.coefficient_of(columns.index) == 1 && store.index.coefficient_of(rows.index) == columns.extent;
        if (++stores > 1 || !fills || store.guard != kNoId || store.value == columns.index) return false;
      } else if (has_operand(node(item.id), columns.index)) {
        return false;
      }
    }
    return stores == 1;
  }

  static bool has_operand(const Node& node, NodeId operand) {
    return std::ranges::find(node.operands, operand) != node.operands.end();
  }

  bool shares_terms(const Loop& columns, int32_t id) {
    const Loop& sum = loop(id);
    if (sum.kind != LoopKind::kReduce || sum.neutral.size() != sum.carried.size() || sum.one_by_one) return false;
    const std::vector<bool> varies = varying_in(columns, id);
    int shared = 0;
    for (const Item& item : block(sum.body).items) {
      if (item.kind == Item::kStore) return false;
      if (item.kind == Item::kLoop) {
        if (any_varies(item.id, varies)) return false;
        ++shared;
        continue;
      }
      const Node& term = node(item.id);
      if (varies[item.id]) {
        if (has_operand(term, columns.index)) return false;
      } else {
        shared += weight_of(term);
      }
    }
    return shared >= kLeastShared;
  }

  /// Per node: does it differ from column to column, or depend on the reduction's carried values?
  std::vector<bool> varying_in(const Loop& columns, int32_t sum) const {
    std::vector<bool> varies(nest_.nodes.size());
    varies[columns.index] = true;
    // Operands precede users, except those that an earlier unrolling has moved: these belong to other rows.
    for (size_t id = 0; id < nest_.nodes.size(); ++id) {
      const Node& node = nest_.nodes[id];
      const auto is_varying = [&](NodeId operand) { return varies[operand]; };
      varies[id] = varies[id] || (node.kind == NodeKind::kCarried && node.loop == sum) ||
                   std::ranges::any_of(node.operands, is_varying) ||
                   std::ranges::any_of(node.affine.terms, is_varying, &Affine::Term::atom) ||
                   node.block == columns.body;
    }
    return varies;
  }

  /// Does any value that a loop computes or carries vary?
  bool any_varies(int32_t id, const std::vector<bool>& varies) {
    const Loop& inner = loop(id);
    const auto is_varying = [&](NodeId part) { return part != kNoId && varies[part]; };
    for (const Carried& carried : inner.carried) {
      if (is_varying(carried.initial) || is_varying(carried.next)) return true;
    }
    for (const int32_t part : {inner.head, inner.body}) {
      if (part == kNoId) continue;
      for (const Item& item : block(part).items) {
        if (item.kind == Item::kStore || (item.kind == Item::kLoop ? any_varies(item.id, varies) : is_varying(item.id)))
          return true;
      }
    }
    return false;
  }

  /// Writes out the computation of each column, then the stores of all.
  void write_out(const Loop columns, int32_t into, std::vector<Item>& items) {
    std::vector<Copies> copies(static_cast<size_t>(columns.extent));
    std::vector<Item> stores;
    for (const Item& item : std::vector<Item>(block(columns.body).items)) {
      if (item.kind == Item::kLoop) {
        join_columns(columns, item.id, into, copies);
        items.push_back(item);
        continue;
      }
      for (int64_t column = 0; column < columns.extent; ++column) {
        Copies& own = copies[column];
        if (item.kind == Item::kNode) {
          items.push_back({Item::kNode, copy_into(into, item.id, columns.index, column, own)});
          continue;
        }
        Store store = nest_.stores[item.id];
        const Affine index = in_column(store.index, columns.index, column, own);
        stores.push_back({Item::kStore, static_cast<int32_t>(nest_.stores.size())});
        nest_.stores.push_back({store.buffer, index, copy_of(own, store.value), kNoId, into});
      }
    }
    drop_stores_in(columns.body, stores);
    items.insert(items.end(), stores.begin(), stores.end());
  }

  /// Moves the reduction into the block `into`, with its carried values once per column. Terms that are equal in all
  /// columns stay unchanged.
  void join_columns(const Loop& columns, int32_t id, int32_t into, std::vector<Copies>& copies) {
    const std::vector<bool> varies = varying_in(columns, id);
    const Loop sum = loop(id);
    const auto slots = static_cast<int32_t>(sum.carried.size());
    block(sum.body).parent = into;
    // Nodes for the carried values and the results of each column.
    const size_t count = nest_.nodes.size();
    for (size_t k = 0; k < count; ++k) {
      const Node given = nest_.nodes[k];
      const bool comes_out = given.kind == NodeKind::kResult;
      if (given.loop != id || (given.kind != NodeKind::kCarried && !comes_out)) continue;
      for (size_t column = 0; column < copies.size(); ++column) {
        Node own = given;
        own.slot += static_cast<int32_t>(column) * slots;
        if (comes_out) own.block = into;
        copies[column][static_cast<NodeId>(k)] = append(std::move(own));
      }
    }
    std::vector<Item> items;
    for (const Item& item : block(sum.body).items) {
      if (item.kind == Item::kLoop || !varies[item.id]) {
        items.push_back(item);
        continue;
      }
      for (size_t column = 0; column < copies.size(); ++column) {
        items.push_back(
            {Item::kNode, copy_into(sum.body, item.id, columns.index, static_cast<int64_t>(column), copies[column])});
      }
    }
    block(sum.body).items = std::move(items);
    Loop& joined = loop(id);
    joined.carried.clear();
    joined.neutral.clear();
    for (const Copies& own : copies) {
      for (const Carried& carried : sum.carried) {
        joined.carried.push_back({carried.type, copy_of(own, carried.initial), copy_of(own, carried.next)});
      }
      joined.neutral.insert(joined.neutral.end(), sum.neutral.begin(), sum.neutral.end());
    }
    joined.combine = sum.combine;
    for (int32_t k = 1; k < static_cast<int32_t>(copies.size()); ++k)
      joined.combine = combine_apart(*joined.combine, *sum.combine, k * slots, slots);
  }

  NodeId append(Node node) {
    nest_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(nest_.nodes.size()) - 1;
  }

  NodeId copy_into(int32_t into, NodeId id, NodeId index, int64_t column, Copies& copies) {
    Node own = node(id);
    for (NodeId& operand : own.operands) operand = copy_of(copies, operand);
    own.affine = in_column(std::move(own.affine), index, column, copies);
    own.block = into;
    return copies[id] = append(std::move(own));
  }

  static Affine in_column(Affine sum, NodeId index, int64_t column, const Copies& copies) {
    sum.constant += sum.coefficient_of(index) * column;
    std::erase_if(sum.terms, [&](const Affine::Term& term) { return term.atom == index; });
    for (auto& term : sum.terms) term.atom = copy_of(copies, term.atom);
    std::ranges::sort(sum.terms, {}, &Affine::Term::atom);
    return sum;
  }

  static NodeId copy_of(const Copies& copies, NodeId id) {
    const auto copy = copies.find(id);
    return copy == copies.end() ? id : copy->second;
  }

  /// The last copy replaces the store that was copied, because every store must be in a block.
  void drop_stores_in(int32_t from, std::vector<Item>& stores) {
    for (const Item& item : block(from).items) {
      if (item.kind != Item::kStore) continue;
      nest_.stores[item.id] = std::move(nest_.stores.back());
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
