#include "schedule/in_place.h"

#include <algorithm>
#include <tuple>

#include "analysis/leaves.h"
#include "nest/accesses.h"
#include "region/boxes.h"
#include "region/identity.h"

namespace lowtide::engine {
namespace {

bool contains(const std::vector<ValueId>& list, ValueId v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

bool contains(const std::vector<Move>& moves, ValueId from, ValueId to) {
  return std::any_of(moves.begin(), moves.end(), [&](const Move& m) { return m.from == from && m.to == to; });
}

/// Moves of one step happen at once, so that one may write what another reads: addresses are exchanged, or cycles are
/// copied strip by strip.
bool moves_at_once(const std::vector<Move>& moves, ValueId from, ValueId to) {
  return std::any_of(moves.begin(), moves.end(), [&](const Move& m) { return m.from == from; }) &&
         std::any_of(moves.begin(), moves.end(), [&](const Move& m) { return m.to == to; });
}

bool meet(const Box& a, const Box& b) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d].end <= b[d].begin || b[d].end <= a[d].begin) return false;
  }
  return true;
}

}  // namespace

bool InPlace::may(Step step, ValueId from, ValueId to) {
  const FlowStep& s = flow_.steps[step];
  if (moves_at_once(s.moves, from, to)) return true;
  if (!s.work) return false;
  if (s.work->kind == WorkKind::kLibrary) return library_may(s, from, to);
  if (s.work->kind != WorkKind::kRegion) return false;
  const bool updates = contains(s.updates, from, to);
  if (!contains(s.reads, from)) return updates;
  if ((updates && reads_apart(s, from, to)) || region_may(s, from, to)) return true;
  if (ways_ == InPlaceWays::kKernels || !s.updates.empty()) return false;
  const auto [answer, fresh] = strips_.try_emplace({s.work, from, to}, false);
  if (fresh) answer->second = strips_may(s, from, to);
  return answer->second;
}

/// Does it hold for any overlap in this step? With several results, all pairs that could overlap are checked together.
bool InPlace::strips_may(const FlowStep& step, ValueId from, ValueId to) {
  const Region& region = step.work->region;
  const auto alike = [&](size_t o, size_t i) {
    const LeafRef &in = region.inputs[i], &out = region.outputs[o];
    const Shape &a = *leaf_shape(in.instruction->shape, in.leaf), &b = *leaf_shape(out.instruction->shape, out.leaf);
    return element_count(a) == element_count(b) && logical_bytes(a) == logical_bytes(b);
  };
  std::vector<std::pair<int32_t, int32_t>> over;
  for (size_t o = 0; o < step.writes.size(); ++o) {
    for (size_t i = 0; i < step.reads.size(); ++i) {
      const bool asked = step.writes[o] == to && step.reads[i] == from;
      if (asked && !alike(o, i)) return false;
      if (asked || (step.writes.size() > 1 && alike(o, i)))
        over.emplace_back(static_cast<int32_t>(o), static_cast<int32_t>(i));
    }
  }
  if (ways_ == InPlaceWays::kMoves && nests_.rearrangement(*step.work)) return true;
  return nests_.strips(*step.work, over).has_value();
}

/// Does the region read only those elements of the value it updates that it doesn't change?
bool InPlace::reads_apart(const FlowStep& step, ValueId from, ValueId to) const {
  const Region& region = step.work->region;
  const auto output = std::find(step.writes.begin(), step.writes.end(), to) - step.writes.begin();
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    const bool other_name = step.reads[i] == from && region.inputs[i] != region.updates[output];
    if (other_name) return false;
  }
  return reads_apart_from_update(region, static_cast<size_t>(output));
}

bool InPlace::updates(Step step, ValueId to) const {
  const auto& updates = flow_.steps[step].updates;
  return std::any_of(updates.begin(), updates.end(), [&](const Move& m) { return m.to == to; });
}

bool InPlace::reads_beside(Step reader, ValueId from, Step update, ValueId to) const {
  const FlowStep &reads = flow_.steps[reader], &writes = flow_.steps[update];
  if (!reads.work || reads.work->kind != WorkKind::kRegion || !updates(update, to)) return false;
  if (std::any_of(reads.updates.begin(), reads.updates.end(), [&](const Move& m) { return m.from == from; }))
    return false;
  const auto output = std::find(writes.writes.begin(), writes.writes.end(), to) - writes.writes.begin();
  const Box written = written_box(*writes.work->region.outputs[output].instruction);
  for (size_t i = 0; i < reads.reads.size(); ++i) {
    if (reads.reads[i] != from) continue;
    const LeafRef& in = reads.work->region.inputs[i];
    // Boxes are in the dimensions of the updated value: a view with other extents can't be compared.
    const LeafRef& out = writes.work->region.outputs[output];
    if (leaf_shape(in.instruction->shape, in.leaf)->dims != leaf_shape(out.instruction->shape, out.leaf)->dims)
      return false;
    const auto box = box_read(reads.work->region, i);
    if (box && meet(*box, written)) return false;
  }
  return true;
}

bool InPlace::library_may(const FlowStep& step, ValueId from, ValueId to) const {
  for (size_t r = 0; r < step.writes.size(); ++r) {
    if (step.writes[r] != to) continue;
    const int operand = nests_.target().overwritten_operand(*step.instruction, static_cast<int64_t>(r));
    return operand >= 0 && step.reads[operand] == from && std::count(step.reads.begin(), step.reads.end(), from) == 1;
  }
  return false;
}

/// May the result lie over the operand, under every name by which the region reads it? Not if the result updates a
/// different value in place.
bool InPlace::region_may(const FlowStep& step, ValueId from, ValueId to) {
  if (std::ranges::any_of(step.updates, [&](const Move& m) { return m.to == to && m.from != from; })) return false;
  for (size_t o = 0; o < step.writes.size(); ++o) {
    if (step.writes[o] != to) continue;
    for (size_t i = 0; i < step.reads.size(); ++i) {
      if (step.reads[i] != from) continue;
      const LeafRef &in = step.work->region.inputs[i], &out = step.work->region.outputs[o];
      const bool alike = element_count(*leaf_shape(in.instruction->shape, in.leaf)) ==
                         element_count(*leaf_shape(out.instruction->shape, out.leaf));
      if (!alike) return false;  // element counts differ
      if (!nests_.may_lie_over(*step.work, static_cast<int32_t>(o), static_cast<int32_t>(i))) return false;
    }
  }
  return true;
}

}  // namespace lowtide::engine
