#include "schedule/check/touches.h"

#include <algorithm>

namespace lowtide::engine {

Touches::Touches(const Nest& nest) : nest_(nest) {
  if (!is_one_piece()) {
    for (const Item& item : block(0).items) {
      if (item.kind == Item::kLoop && stores_within(loop(item.id).body)) pieces_.push_back(item.id);
    }
    find_needs();
  }
  std::vector<int32_t> loops;
  walk(0, loops, {});
}

bool Touches::stores_within(int32_t id) const {
  return std::ranges::any_of(block(id).items, [&](const Item& item) {
    return item.kind == Item::kStore || (item.kind == Item::kLoop && stores_within(loop(item.id).body));
  });
}

/// Does block 0 itself store, or a loop in it that is a while or has a result?
bool Touches::is_one_piece() const {
  return std::ranges::any_of(block(0).items, [&](const Item& item) {
    if (item.kind == Item::kStore) return true;
    if (item.kind != Item::kLoop || !stores_within(loop(item.id).body)) return false;
    return loop(item.id).kind == LoopKind::kWhile || std::ranges::any_of(nest_.nodes, [&](const Node& n) {
             return n.kind == NodeKind::kResult && n.loop == item.id;
           });
  });
}

bool Touches::runs_at_once(int32_t piece) const {
  if (pieces_.empty()) return true;
  const Loop& outer = loop(pieces_[piece]);
  return outer.kind != LoopKind::kParallel || outer.extent <= 1;
}

void Touches::find_needs() {
  const auto count = static_cast<int32_t>(pieces_.size());
  for (int32_t p = 0; p < count; ++p) need_loop(first_, pieces_[p], p);
  for (int32_t p = count; p-- > 0;) need_loop(last_, pieces_[p], p);
}

void Touches::need(Needed& needed, NodeId id, int32_t piece) {
  if (id == kNoId || !needed.nodes.try_emplace(id, piece).second) return;
  for (const NodeId operand : node(id).operands) need(needed, operand, piece);
  for (const auto& term : node(id).affine.terms) need(needed, term.atom, piece);
  const bool of_loop = node(id).kind == NodeKind::kResult || node(id).kind == NodeKind::kCarried;
  if (of_loop) need_loop(needed, node(id).loop, piece);
}

void Touches::need_loop(Needed& needed, int32_t id, int32_t piece) {
  if (!needed.loops.try_emplace(id, piece).second) return;
  for (const Carried& carried : loop(id).carried) {
    need(needed, carried.initial, piece);
    need(needed, carried.next, piece);
  }
  need(needed, loop(id).condition, piece);
  if (loop(id).head != kNoId) need_block(needed, loop(id).head, piece);
  need_block(needed, loop(id).body, piece);
}

void Touches::need_block(Needed& needed, int32_t id, int32_t piece) {
  for (const Item& item : block(id).items) {
    if (item.kind == Item::kNode) need(needed, item.id, piece);
    if (item.kind == Item::kLoop) need_loop(needed, item.id, piece);
    if (item.kind != Item::kStore) continue;
    const Store& store = nest_.stores[item.id];
    need(needed, store.value, piece);
    need(needed, store.guard, piece);
    for (const auto& term : store.index.terms) need(needed, term.atom, piece);
  }
}

/// Sets the pieces that run an item of block 0; an item that nothing needs may be in any.
void Touches::number(const Item& item, Touch& touch) const {
  if (pieces_.empty()) return;
  const auto count = static_cast<int32_t>(pieces_.size());
  const auto piece = item.kind == Item::kLoop ? std::ranges::find(pieces_, item.id) : pieces_.end();
  touch.ahead = piece == pieces_.end();
  if (!touch.ahead) {
    touch.first_piece = touch.last_piece = static_cast<int32_t>(piece - pieces_.begin());
    return;
  }
  const auto of = [&](const Needed& needed, int32_t otherwise) {
    const auto& known = item.kind == Item::kLoop ? needed.loops : needed.nodes;
    const auto at = known.find(item.id);
    return at == known.end() ? otherwise : at->second;
  };
  touch.first_piece = of(first_, 0);
  touch.last_piece = of(last_, count - 1);
}

void Touches::walk(int32_t id, std::vector<int32_t>& loops, const Touch& within) {
  for (const Item& item : block(id).items) {
    Touch touch = within;
    touch.order = static_cast<int32_t>(all_.size());
    if (id == 0) number(item, touch);
    if (item.kind == Item::kLoop) {
      loops.push_back(item.id);
      if (loop(item.id).head != kNoId) walk(loop(item.id).head, loops, touch);
      walk(loop(item.id).body, loops, touch);
      loops.pop_back();
      continue;
    }
    if (item.kind == Item::kStore) {
      const Store& store = nest_.stores[item.id];
      touch.buffer = store.buffer;
      touch.stores = true;
      touch.element = &store.index;
      touch.value = store.value;
      touch.guard = store.guard;
    } else {
      if (node(item.id).kind != NodeKind::kLoad) continue;
      touch.buffer = node(item.id).buffer;
      touch.element = &node(item.id).affine;
    }
    touch.loops = loops;
    all_.push_back(std::move(touch));
  }
}

Extremes Touches::bounds(NodeId atom) const { return bounds(atom, {}, 0); }

Extremes Touches::bounds(const Affine& element, int32_t loop, int64_t from, int64_t to) const {
  return sum(element, {loop, from, to}, 0);
}

Extremes Touches::sum(const Affine& element, const Range& range, int depth) const {
  Extremes all{element.constant, element.constant};
  for (const auto& term : element.terms) {
    const Extremes atom = bounds(term.atom, range, depth);
    const Int128 low = term.coefficient * atom.least, high = term.coefficient * atom.greatest;
    all.least += std::min(low, high);
    all.greatest += std::max(low, high);
  }
  return all;
}

Extremes Touches::bounds(NodeId atom, const Range& range, int depth) const {
  constexpr int kDeepest = 6;
  const Node& of = node(atom);
  if (of.kind == NodeKind::kLoopIndex) {
    if (of.loop == range.loop) return {range.from, Int128{range.to} - 1};
    if (loop(of.loop).kind != LoopKind::kWhile) return {0, Int128{loop(of.loop).extent} - 1};
  }
  const Extremes known{of.least, of.greatest};
  if (range.loop == kNoId || depth > kDeepest) return known;
  Extremes here = known;
  if (of.kind == NodeKind::kAffine) here = sum(of.affine, range, depth + 1);
  if (of.kind == NodeKind::kOperation && of.opcode == Opcode::kClamp) {
    const Extremes low = bounds(of.operands[0], range, depth + 1), x = bounds(of.operands[1], range, depth + 1),
                   high = bounds(of.operands[2], range, depth + 1);
    here = {std::min(std::max(low.least, x.least), high.least),
            std::min(std::max(low.greatest, x.greatest), high.greatest)};
  }
  return {std::max(known.least, here.least), std::min(known.greatest, here.greatest)};
}

bool Touches::is_fixed_by(NodeId atom, const std::vector<int32_t>& loops, size_t count) const {
  const Node& of = node(atom);
  int32_t around = of.kind == NodeKind::kLoopIndex ? of.loop : block(of.block).loop;
  // Loops around the atom, the innermost first: all must be among the first `count`.
  while (around != kNoId) {
    const auto end = loops.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::find(loops.begin(), end, around) == end) return false;
    const int32_t body = loop(around).kind == LoopKind::kWhile ? loop(around).head : loop(around).body;
    around = block(block(body).parent).loop;
  }
  return true;
}

}  // namespace lowtide::engine
