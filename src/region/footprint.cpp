#include "region/footprint.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "ops/op_rule.h"
#include "ops/updates_taken.h"
#include "region/region_evaluations.h"
#include "target/roles.h"

namespace lowtide::engine {
namespace {

int64_t bytes_of(const LeafRef& leaf) { return safe_logical_bytes(*leaf_shape(leaf.instruction->shape, leaf.leaf)); }

/// The shape of the part that an in-place update writes: its largest operand except the updated one; null: none.
const Shape* changed(const Instruction& update, const LeafRef& updated) {
  const Shape* largest = nullptr;
  for (const Instruction* operand : update.operands) {
    if (!operand->shape.is_array() || resolve({operand, 0}) == updated) continue;
    if (largest == nullptr || safe_logical_bytes(operand->shape) > safe_logical_bytes(*largest))
      largest = &operand->shape;
  }
  return largest;
}

bool cuts_input(const Instruction& op, const Region& region) {
  if (op.opcode != Opcode::kDynamicSlice && op.opcode != Opcode::kSlice) return false;
  return std::ranges::find(region.inputs, resolve({&op.operand(0), 0})) != region.inputs.end();
}

/// Has the kernel rows that don't fill a vector, and that can't be computed as one long row, because something differs
/// from row to row but not within a row, or the other way round?
bool has_narrow_rows(const Region& region, const Cost& cost) {
  const LeafRef& output = region.outputs[0];
  const Dims& dims = leaf_shape(output.instruction->shape, output.leaf)->dims;
  if (dims.size() < 2 || dims.back() < 2 || static_cast<double>(dims.back()) >= cost.machine().vector_lanes)
    return false;
  return std::ranges::any_of(region.ops,
                             [&](const Instruction* op) {
                               return op->shape.is_array() && op->shape.rank() > 0 && op->shape.dims != dims;
                             }) ||
         std::ranges::any_of(region.inputs, [&](const LeafRef& input) {
           const Shape& shape = *leaf_shape(input.instruction->shape, input.leaf);
           return shape.rank() > 0 && element_count(shape) > 1 && shape.dims != dims;
         });
}

}  // namespace

Footprint footprint(const Region& region, const Cost& cost) {
  Footprint f;
  const RegionEvaluations all = evaluations_in(region);
  std::unordered_set<const Instruction*> updates;
  const auto write = [&](int64_t bytes) {
    f.of_outputs.push_back(bytes);
    f.bytes_written = add_bytes(f.bytes_written, bytes);
  };
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    const LeafRef& output = region.outputs[k];
    if (region.updates[k].instruction == nullptr) {
      write(bytes_of(output));
      continue;
    }
    updates.insert(output.instruction);
    const Shape* box = changed(*output.instruction, region.updates[k]);
    const Instruction& update = *output.instruction;
    write(box == nullptr ? 0
                         : static_cast<int64_t>(updates_taken(update) * static_cast<double>(safe_logical_bytes(*box))));
    if (box == nullptr) continue;
    if (update.opcode == Opcode::kDynamicUpdateSlice) f.rows_ns += cost.rows_ns(update.shape, update.operand(1).shape);
  }
  for (size_t k = 0; k < region.ops.size(); ++k) {
    if (updates.contains(region.ops[k])) {
      if (region.ops[k]->opcode == Opcode::kScatter) {
        f.arithmetic_ns += cost.scatter_ns(*region.ops[k]);
      }
      continue;
    }
    const double count = total(all.ops[k]);
    f.evaluations += count;
    const Instruction& op = *region.ops[k];
    f.arithmetic_ns += folds_into_output(region, op) ? cost.running_fold_ns(op) : count * cost.element_ns(op);
    if (cuts_input(op, region)) {
      f.rows_ns +=
          std::min(1.0, count / std::max(1.0, elements_of(op.shape))) * cost.rows_ns(op.operand(0).shape, op.shape);
    }
  }
  for (size_t k = 0; k < region.inputs.size(); ++k) {
    const LeafRef& input = region.inputs[k];
    const Shape& shape = *leaf_shape(input.instruction->shape, input.leaf);
    const double reads = total(all.inputs[k]);
    const double part = std::min(1.0, reads / std::max(1.0, elements_of(shape)));  // a slice reads less than all
    f.of_inputs.push_back(static_cast<int64_t>(part * static_cast<double>(bytes_of(input))));
    f.bytes_read = add_bytes(f.bytes_read, f.of_inputs.back());
    f.arithmetic_ns += reads * cost.cached_read_ns();
  }
  if (has_narrow_rows(region, cost)) f.arithmetic_ns *= cost.machine().narrow_factor;
  return f;
}

}  // namespace lowtide::engine
