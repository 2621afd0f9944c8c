#include "schedule/in_place.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/leaves.h"
#include "library/library.h"

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

bool same_extents(const Shape& a, const Shape& b) { return a.is_array() && b.is_array() && a.dims == b.dims; }

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
  if (contains(s.updates, from, to)) return !contains(s.reads, from);
  return contains(s.reads, from) && region_may(s, from, to);
}

/// Every path from the operand to the region's only result is elementwise, so element i is read for element i alone.
bool InPlace::region_may(const FlowStep& step, ValueId from, ValueId to) {
  const Region& region = step.work->region;
  if (region.outputs.size() != 1 || step.writes[0] != to || !step.updates.empty()) return false;
  const LeafRef& out = region.outputs[0];
  const Shape* out_shape = leaf_shape(out.instruction->shape, out.leaf);
  std::unordered_map<const Instruction*, bool> touched;  // does it depend on the operand?
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    if (step.reads[i] != from) continue;
    const LeafRef& in = region.inputs[i];
    const Shape* shape = leaf_shape(in.instruction->shape, in.leaf);
    if (shape->type != out_shape->type || !same_extents(*shape, *out_shape)) return false;
  }
  for (const Instruction* op : region.ops) {
    bool depends = false;
    for (const Instruction* operand : op->operands) {
      const LeafRef source = resolve({operand, 0});
      for (size_t i = 0; i < region.inputs.size() && !depends; ++i) {
        depends = step.reads[i] == from && region.inputs[i].instruction == source.instruction;
      }
      const auto seen = touched.find(source.instruction);
      depends = depends || (seen != touched.end() && seen->second);
    }
    if (depends && (memory_class(op->opcode) != MemoryClass::kElementwise || !same_extents(op->shape, *out_shape))) {
      return false;
    }
    touched[op] = depends;
  }
  return true;
}

}  // namespace lowtide
