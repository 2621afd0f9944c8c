#include <set>

#include "analysis/leaves.h"
#include "region/region.h"
#include "target/roles.h"

namespace lowtide::engine {

std::string check_region(const Region& region) {
  if (region.ops.empty()) return "a region has no operations";
  std::set<const Instruction*> made;
  const std::set<LeafRef> inputs(region.inputs.begin(), region.inputs.end());
  for (const LeafRef& input : region.inputs) {
    if (resolve(input) != input) return input.instruction->name + " is an input, but only a name of another array";
    for (const Instruction* op : region.ops) {
      if (op == input.instruction) return input.instruction->name + " is an input, and made by the region";
    }
  }
  std::set<const Instruction*> updates;
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    const LeafRef& output = region.outputs[k];
    if (has_update(*output.instruction)) updates.insert(output.instruction);
    if (k < region.updates.size() && region.updates[k].instruction && !has_update(*output.instruction)) {
      return output.instruction->name + " is to update an operand, but has no update";
    }
  }
  for (const Instruction* op : region.ops) {
    if (!has_element(*op) && !updates.contains(op)) return op->name + " has neither an element nor an update";
    for (const Instruction* operand : op->operands) {
      for (int32_t leaf = 0; leaf < leaf_count(operand->shape); ++leaf) {
        const LeafRef array = resolve({operand, leaf});
        if (!leaf_shape(operand->shape, leaf)->is_array()) continue;
        if (!made.contains(array.instruction) && !inputs.contains(array)) {
          bool updated = false;
          for (size_t k = 0; k < region.updates.size(); ++k) updated = updated || region.updates[k] == array;
          if (!updated)
            return op->name + " reads " + array.instruction->name + ", which is no input and not made before it";
        }
      }
    }
    made.insert(op);
  }
  for (const LeafRef& output : region.outputs) {
    if (!made.contains(output.instruction))
      return output.instruction->name + " is an output, but not made by the region";
  }
  return "";
}

}  // namespace lowtide::engine
