#include "passes/xla/store_updates.h"

#include <fmt/format.h>

#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "analysis/loop_fusion.h"
#include "passes/rewrite.h"
#include "passes/xla/barrier.h"
#include "passes/xla/updated_slices.h"

namespace lowtide::engine {
namespace {

/// The bytes of the updated array's slices at other places that the update's kernel computes.
int64_t sliced_bytes(const Instruction& update, const std::vector<bool>& is_virtual) {
  int64_t bytes = 0;
  std::unordered_set<const Instruction*> seen;
  std::vector<const Instruction*> open{&update.operand(1)};
  while (!open.empty()) {
    const Instruction* i = open.back();
    open.pop_back();
    const auto id = static_cast<size_t>(i->id);
    if (id >= is_virtual.size() || !is_virtual[id] || !seen.insert(i).second) continue;
    if (is_slice(*i, update.operand(0)) && !begins_with(update, *i)) {
      bytes = add_bytes(bytes, safe_logical_bytes(i->shape));
    }
    open.insert(open.end(), i->operands.begin(), i->operands.end());
  }
  return bytes;
}

}  // namespace

Result<PassResult> store_updates(Module& module) {
  PassResult result;
  std::vector<bool> is_virtual;
  for (const auto& computation : module.computations()) {
    std::vector<Instruction*> updates, made;
    for (const auto& i : computation->instructions()) {
      if (i->opcode != Opcode::kDynamicUpdateSlice || safe_logical_bytes(i->shape) < kSmallestUpdated) continue;
      if (is_virtual.empty()) is_virtual = fuse_loops(module);
      if (sliced_bytes(*i, is_virtual) > safe_logical_bytes(i->operand(1).shape)) updates.push_back(i.get());
    }
    if (updates.empty()) continue;
    Names names(*computation);
    for (Instruction* update : updates) {
      update->operands[1] = put_behind_barrier(*computation, names, "stored", {update->operands[1]}, 0, made)[0];
    }
    put_operands_first(*computation);
    result.count += std::ssize(updates);
  }
  result.changed = result.count > 0;
  result.note = fmt::format("what {} updates write is stored before", result.count);
  return result;
}

}  // namespace lowtide::engine
