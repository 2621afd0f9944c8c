#include "nest/compact.h"

#include <algorithm>
#include <utility>

#include "nest/blocks.h"

namespace lowtide::engine {
namespace {

class Compaction {
 public:
  explicit Compaction(Nest from)
      : from_(std::move(from)),
        live_node_(from_.nodes.size()),
        live_loop_(from_.loops.size()),
        node_(from_.nodes.size(), kNoId),
        loop_(from_.loops.size(), kNoId),
        block_(from_.blocks.size(), kNoId) {}

  Nest run() {
    for (const Store& store : from_.stores) need_store(store);
    mark();
    to_.buffers = std::move(from_.buffers);
    for (NestBuffer& buffer : to_.buffers) buffer.read = buffer.written = false;
    to_.blocks.push_back({});
    block_[0] = 0;
    copy_items(0);
    return std::move(to_);
  }

 private:
  void need(const Affine& affine) {
    for (const auto& term : affine.terms) open_.push_back(term.atom);
  }
  void need_store(const Store& store) {
    need(store.index);
    open_.push_back(store.value);
    if (store.guard != kNoId) open_.push_back(store.guard);
    for (const int32_t loop : loops_around(from_, store.block)) need_loop(loop);
  }
  void need_loop(int32_t id) {
    if (live_loop_[id]) return;
    live_loop_[id] = true;
    const Loop& loop = from_.loops[id];
    for (const Carried& carried : loop.carried) {
      open_.push_back(carried.initial);
      open_.push_back(carried.next);
    }
    if (loop.condition != kNoId) open_.push_back(loop.condition);
  }
  void mark() {
    while (!open_.empty()) {
      const auto id = static_cast<size_t>(open_.back());
      open_.pop_back();
      if (live_node_[id]) continue;
      live_node_[id] = true;
      const Node& node = from_.nodes[id];
      open_.insert(open_.end(), node.operands.begin(), node.operands.end());
      need(node.affine);
      if (node.kind == NodeKind::kResult) need_loop(node.loop);
    }
  }

  /// Is it a sum of one term, as merging loops leaves?
  static bool is_its_atom(const Node& node) {
    return node.kind == NodeKind::kAffine && node.affine.constant == 0 && node.affine.terms.size() == 1 &&
           node.affine.terms[0].coefficient == 1;
  }

  NodeId copy(NodeId id) {
    if (id == kNoId || node_[id] != kNoId) return id == kNoId ? id : node_[id];
    if (const Node& given = from_.nodes[id]; is_its_atom(given)) return node_[id] = copy(given.affine.terms[0].atom);
    Node node = std::move(from_.nodes[id]);  // each node is copied only once
    for (NodeId& operand : node.operands) operand = copy(operand);
    node.affine = copy(std::move(node.affine));
    if (node.loop != kNoId) node.loop = loop_[node.loop];
    node.block = block_[node.block];
    if (node.kind == NodeKind::kLoad) to_.buffers[node.buffer].read = true;
    to_.nodes.push_back(std::move(node));
    return node_[id] = static_cast<NodeId>(to_.nodes.size()) - 1;
  }
  Affine copy(Affine affine) {
    for (auto& term : affine.terms) term.atom = copy(term.atom);
    std::sort(affine.terms.begin(), affine.terms.end(), [](const auto& a, const auto& b) { return a.atom < b.atom; });
    return affine;
  }

  void append(int32_t block, Item item) { to_.blocks[block].items.push_back(item); }

  int32_t add_block(int32_t from, int32_t parent, int32_t loop) {
    to_.blocks.push_back({parent, loop, {}});
    return block_[from] = static_cast<int32_t>(to_.blocks.size()) - 1;
  }

  void copy_items(int32_t from) {
    const int32_t block = block_[from];
    for (const Item& item : from_.blocks[from].items) {
      const auto id = static_cast<size_t>(item.id);
      if (item.kind == Item::kLoop) {
        if (live_loop_[id]) copy_loop(item.id, block);
      } else if (item.kind == Item::kStore) {
        Store& store = from_.stores[id];
        Affine index = copy(std::move(store.index));
        const NodeId value = copy(store.value);
        to_.stores.push_back({store.buffer, std::move(index), value, copy(store.guard), block});
        to_.buffers[store.buffer].written = true;
        append(block, {Item::kStore, static_cast<int32_t>(to_.stores.size()) - 1});
      } else if (live_node_[id]) {
        const bool stays = !is_its_atom(from_.nodes[id]);
        const NodeId made = copy(item.id);
        if (stays) append(block, {Item::kNode, made});
      }
    }
  }

  void copy_loop(int32_t from, int32_t outer) {
    const auto id = static_cast<int32_t>(to_.loops.size());
    Loop loop = std::move(from_.loops[from]);
    loop_[from] = id;
    to_.loops.push_back({});
    for (Carried& carried : loop.carried) carried.initial = copy(carried.initial);
    for (NodeId& neutral : loop.neutral) neutral = copy(neutral);
    int32_t parent = outer;
    if (loop.head != kNoId) {
      const int32_t head = loop.head;
      parent = loop.head = add_block(head, outer, id);
      copy_items(head);
      loop.condition = copy(loop.condition);
    }
    const int32_t body = loop.body;
    loop.body = add_block(body, parent, id);
    loop.index = copy(loop.index);
    copy_items(body);
    for (Carried& carried : loop.carried) carried.next = copy(carried.next);
    to_.loops[id] = std::move(loop);
    append(outer, {Item::kLoop, id});
  }

  Nest from_;  ///< its parts are moved out
  Nest to_;
  std::vector<NodeId> open_;
  std::vector<bool> live_node_, live_loop_;
  std::vector<int32_t> node_, loop_, block_;  // new numbers
};

}  // namespace

Nest without_dead_parts(Nest nest) { return Compaction(std::move(nest)).run(); }

}  // namespace lowtide::engine
