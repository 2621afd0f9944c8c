#include "region/footprint.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "region/cost.h"
#include "region/region_evaluations.h"

namespace lowtide {
namespace {

int64_t bytes_of(const LeafRef& leaf) { return safe_logical_bytes(*leaf_shape(leaf.instruction->shape, leaf.leaf)); }

/// Bytes that an update in place writes: its operands, the updated one aside.
int64_t changed_bytes(const Instruction& update, const LeafRef& updated) {
  int64_t bytes = 0;
  for (const Instruction* operand : update.operands) {
    if (operand->shape.is_array() && !(resolve({operand, 0}) == updated)) {
      bytes = std::max(bytes, safe_logical_bytes(operand->shape));
    }
  }
  return bytes;
}

}  // namespace

Footprint footprint(const Region& region) {
  Footprint f;
  const RegionEvaluations all = evaluations_in(region);
  std::unordered_set<const Instruction*> updates;
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    const LeafRef& output = region.outputs[k];
    const bool is_update = region.updates[k].instruction != nullptr;
    if (is_update) updates.insert(output.instruction);
    f.bytes_written = add_bytes(f.bytes_written,
                                is_update ? changed_bytes(*output.instruction, region.updates[k]) : bytes_of(output));
  }
  for (size_t k = 0; k < region.ops.size(); ++k) {
    if (updates.contains(region.ops[k])) continue;
    const double count = total(all.ops[k]);
    f.evaluations += count;
    f.arithmetic_ns += count * element_ns(*region.ops[k]);
  }
  for (size_t k = 0; k < region.inputs.size(); ++k) {
    const LeafRef& input = region.inputs[k];
    const double reads = total(all.inputs[k]);
    const Shape& shape = *leaf_shape(input.instruction->shape, input.leaf);
    const double part = std::min(1.0, reads / std::max(1.0, elements_of(shape)));  // a slice reads less than all
    f.bytes_read = add_bytes(f.bytes_read, static_cast<int64_t>(part * static_cast<double>(bytes_of(input))));
    f.arithmetic_ns += reads * kNsPerCachedRead;
  }
  return f;
}

}  // namespace lowtide
