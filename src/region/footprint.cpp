#include "region/footprint.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "region/cost.h"
#include "region/evaluations.h"

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

void add(std::vector<Evaluations>& all, const Evaluations& more) {
  for (Evaluations& e : all) {
    if (e.kernel == more.kernel && e.map == more.map) {
      e.count = std::max(e.count, more.count);
      return;
    }
  }
  all.push_back(more);
}

}  // namespace

Footprint footprint(const Region& region) {
  Footprint f;
  std::unordered_map<const Instruction*, std::vector<Evaluations>> evaluations;
  std::unordered_map<const Instruction*, bool> is_update;
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    const LeafRef& output = region.outputs[k];
    add(evaluations[output.instruction], evaluations_of_root(0, output.instruction->shape));
    const bool updates = region.updates[k].instruction != nullptr;
    is_update[output.instruction] |= updates;
    f.bytes_written =
        add_bytes(f.bytes_written, updates ? changed_bytes(*output.instruction, region.updates[k]) : bytes_of(output));
  }
  std::unordered_map<const Instruction*, double> input_reads;
  for (const LeafRef& input : region.inputs) input_reads[input.instruction] = 0;
  for (auto op = region.ops.rbegin(); op != region.ops.rend(); ++op) {
    const std::vector<Evaluations> mine = evaluations[*op];
    double count = 0;
    for (const Evaluations& e : mine) count += e.count;
    f.evaluations += is_update[*op] ? 0 : count;
    f.arithmetic_ns += is_update[*op] ? 0 : count * element_ns(**op);
    for (size_t k = 0; k < (*op)->operands.size(); ++k) {
      int32_t number = 0;
      for_each_leaf((*op)->operands[k]->shape, [&](const ShapeIndex&, const Shape& shape) {
        const LeafRef read = resolve({(*op)->operands[k], number++});
        if (!shape.is_array()) return;
        const auto input = input_reads.find(read.instruction);
        for (const Evaluations& e : mine) {
          const Evaluations theirs = evaluations_of_operand(e, **op, static_cast<int32_t>(k), shape, is_update[*op]);
          if (input != input_reads.end())
            input->second += theirs.count;
          else
            add(evaluations[read.instruction], theirs);
        }
      });
    }
  }
  for (const LeafRef& input : region.inputs) {
    const double reads = input_reads[input.instruction];
    const double elements = std::max(1.0, elements_of(input.instruction->shape));
    const double part = std::min(1.0, reads / elements);  // a slice reads less than all
    f.bytes_read = add_bytes(f.bytes_read, static_cast<int64_t>(part * static_cast<double>(bytes_of(input))));
    f.arithmetic_ns += reads * kNsPerCachedRead;
  }
  return f;
}

}  // namespace lowtide
