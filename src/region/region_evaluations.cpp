#include "region/region_evaluations.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/leaves.h"
#include "target/roles.h"

namespace lowtide::engine {

double total(const std::vector<Evaluations>& all) {
  double count = 0;
  for (const Evaluations& e : all) count += e.count;
  return count;
}

void add_evaluations(std::vector<Evaluations>& all, const Evaluations& more) {
  for (Evaluations& e : all) {
    if (e.kernel == more.kernel && e.map == more.map) {
      e.count = std::max(e.count, more.count);
      return;
    }
  }
  all.push_back(more);
}

std::vector<bool> inputs_read_in_step(const Region& region) {
  std::vector<bool> in_step(region.inputs.size(), false);
  if (region.outputs.empty()) return in_step;
  const auto dims_of = [](const LeafRef& leaf) -> const Dims& {
    return leaf_shape(leaf.instruction->shape, leaf.leaf)->dims;
  };
  const Dims& dims = dims_of(region.outputs[0]);
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    if (dims_of(region.outputs[k]) != dims || region.updates[k].instruction) return in_step;
    // Such an output has its own loops, which compute and store in another order.
    if (!has_element(*region.outputs[k].instruction)) return in_step;
  }
  const RegionEvaluations all = evaluations_in(region);
  const Evaluations own = evaluations_of_root(0, Shape::array(ElementType::kPred, dims));
  for (size_t k = 0; k < region.inputs.size(); ++k) {
    const auto& maps = all.inputs[k];
    in_step[k] = dims_of(region.inputs[k]) == dims && maps.size() == 1 && maps[0].map == own.map;
  }
  return in_step;
}

bool folds_into_output(const Region& region, const Instruction& i) {
  return is_running_fold(i) &&
         std::ranges::any_of(region.outputs, [&](const LeafRef& output) { return output.instruction == &i; });
}

RegionEvaluations evaluations_in(const Region& region) {
  RegionEvaluations all;
  all.ops.resize(region.ops.size());
  all.inputs.resize(region.inputs.size());
  std::unordered_map<const Instruction*, size_t> op_at;
  for (size_t k = 0; k < region.ops.size(); ++k) op_at[region.ops[k]] = k;
  std::vector<int> updated(region.ops.size(), -1);
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    const Instruction& output = *region.outputs[k].instruction;
    const size_t op = op_at.at(&output);
    add_evaluations(all.ops[op], evaluations_of_root(0, *leaf_shape(output.shape, region.outputs[k].leaf)));
    updated[op] = std::max(updated[op], updated_operand(region, k));
  }
  for (size_t op = region.ops.size(); op-- > 0;) {
    const Instruction& user = *region.ops[op];
    const bool in_own_loop = updated[op] >= 0 || folds_into_output(region, user);
    for (size_t k = 0; k < user.operands.size(); ++k) {
      if (updated[op] == static_cast<int>(k)) continue;
      int32_t number = 0;
      for_each_leaf(user.operands[k]->shape, [&](const ShapeIndex&, const Shape& shape) {
        const LeafRef read = resolve({user.operands[k], number++});
        if (!shape.is_array()) return;
        const auto inside = op_at.find(read.instruction);
        std::vector<Evaluations>* theirs = nullptr;
        if (inside != op_at.end()) {
          theirs = &all.ops[inside->second];
        } else {
          const auto input = std::find(region.inputs.begin(), region.inputs.end(), read);
          if (input == region.inputs.end()) return;
          theirs = &all.inputs[input - region.inputs.begin()];
        }
        for (const Evaluations& e : all.ops[op]) {
          add_evaluations(*theirs, evaluations_of_operand(e, user, static_cast<int32_t>(k), shape, in_own_loop));
        }
      });
    }
  }
  return all;
}

}  // namespace lowtide::engine
