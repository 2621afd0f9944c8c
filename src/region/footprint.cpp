#include "region/footprint.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "ops/op_rule.h"
#include "region/region_evaluations.h"
#include "target/roles.h"

namespace lowtide::engine {
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

/// A running fold makes each result with one step from the one before.
bool is_running_fold(const Instruction& i) { return has_update(i) && !rule_of(i.opcode).updated_operand; }

}  // namespace

Footprint footprint(const Region& region, const Cost& cost) {
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
  bool folds = false;
  for (size_t k = 0; k < region.ops.size(); ++k) {
    if (updates.contains(region.ops[k])) {
      if (region.ops[k]->opcode == Opcode::kScatter) {
        f.arithmetic_ns += cost.scatter_ns(elements_of(region.ops[k]->operands.back()->shape));
      }
      continue;
    }
    const double count = total(all.ops[k]);
    f.evaluations += count;
    const bool running = is_running_fold(*region.ops[k]);
    f.arithmetic_ns += running ? cost.running_fold_ns(*region.ops[k]) : count * cost.element_ns(*region.ops[k]);
    folds |= running;
  }
  for (size_t k = 0; k < region.inputs.size(); ++k) {
    const LeafRef& input = region.inputs[k];
    const Shape& shape = *leaf_shape(input.instruction->shape, input.leaf);
    const double reads = folds ? std::min(total(all.inputs[k]), elements_of(shape)) : total(all.inputs[k]);
    const double part = std::min(1.0, reads / std::max(1.0, elements_of(shape)));  // a slice reads less than all
    f.bytes_read = add_bytes(f.bytes_read, static_cast<int64_t>(part * static_cast<double>(bytes_of(input))));
    f.arithmetic_ns += reads * cost.cached_read_ns();
  }
  return f;
}

}  // namespace lowtide::engine
