#include "schedule/in_place.h"

#include <algorithm>

#include "analysis/leaves.h"
#include "library/library.h"
#include "region/boxes.h"
#include "region/region_evaluations.h"

namespace lowtide {
namespace {

bool contains(const std::vector<ValueId>& list, ValueId v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

bool contains(const std::vector<Move>& moves, ValueId from, ValueId to) {
  return std::any_of(moves.begin(), moves.end(), [&](const Move& m) { return m.from == from && m.to == to; });
}

/// Moves of one step happen at once, so that one may write what another reads: addresses are exchanged, or circles
/// copied strip by strip.
bool moves_at_once(const std::vector<Move>& moves, ValueId from, ValueId to) {
  return std::any_of(moves.begin(), moves.end(), [&](const Move& m) { return m.from == from; }) &&
         std::any_of(moves.begin(), moves.end(), [&](const Move& m) { return m.to == to; });
}

}  // namespace

bool InPlace::may(Step step, ValueId from, ValueId to) {
  const FlowStep& s = flow_.steps[static_cast<size_t>(step)];
  if (moves_at_once(s.moves, from, to)) return true;
  if (!s.work) return false;
  if (s.work->kind == WorkKind::kLibrary) {
    for (size_t r = 0; r < s.writes.size(); ++r) {
      if (s.writes[r] != to) continue;
      const int operand = library_in_place(*s.instruction, static_cast<int64_t>(r));
      return operand >= 0 && s.reads[static_cast<size_t>(operand)] == from &&
             std::count(s.reads.begin(), s.reads.end(), from) == 1;
    }
    return false;
  }
  if (s.work->kind != WorkKind::kRegion) return false;
  if (contains(s.updates, from, to)) return !contains(s.reads, from) || reads_apart(s, from, to);
  return contains(s.reads, from) && region_may(s, from, to);
}

/// The region reads only such elements of what it updates as it doesn't change.
bool InPlace::reads_apart(const FlowStep& step, ValueId from, ValueId to) {
  const Region& region = step.work->region;
  const auto output = std::find(step.writes.begin(), step.writes.end(), to) - step.writes.begin();
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    const bool other_name = step.reads[i] == from && region.inputs[i] != region.updates[static_cast<size_t>(output)];
    if (other_name) return false;
  }
  return reads_apart_from_update(region, static_cast<size_t>(output));
}

/// Element i of the operand is read for element i of the results alone, and the result has elements of its size.
bool InPlace::region_may(const FlowStep& step, ValueId from, ValueId to) {
  const Region& region = step.work->region;
  const auto output = std::find(step.writes.begin(), step.writes.end(), to);
  if (output == step.writes.end() || !step.updates.empty()) return false;
  const auto [found, is_new] = in_step_.try_emplace(&region);
  if (is_new) found->second = inputs_read_in_step(region);
  const LeafRef& out = region.outputs[static_cast<size_t>(output - step.writes.begin())];
  const Shape* result = leaf_shape(out.instruction->shape, out.leaf);
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    if (step.reads[i] != from) continue;
    const LeafRef& in = region.inputs[i];
    const Shape* shape = leaf_shape(in.instruction->shape, in.leaf);
    if (!found->second[i] || stored_bytes(shape->type) != stored_bytes(result->type)) return false;
  }
  return true;
}

}  // namespace lowtide
