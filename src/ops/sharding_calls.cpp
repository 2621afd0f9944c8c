#include "ops/sharding_calls.h"

namespace lowtide::engine {

bool is_sharding_target(const std::string& target) {
  return target == "Sharding" || target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape" ||
         target.starts_with("xla.sdy.");
}

bool names_its_operands(const Instruction& instruction) {
  const auto* call = instruction.if_as<CustomCallAttributes>();
  if (!call || !is_sharding_target(call->target) || instruction.operands.empty()) return false;
  const auto fits = [](const Shape& from, const Shape& to) {
    return from.is_array() && to.is_array() && from.type == to.type && from.rank() == to.rank();
  };
  if (!instruction.shape.is_tuple()) {
    return instruction.operands.size() == 1 && fits(instruction.operand(0).shape, instruction.shape);
  }
  if (instruction.shape.elements.size() != instruction.operands.size()) return false;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (!fits(instruction.operand(i).shape, instruction.shape.elements[i])) return false;
  }
  return true;
}

PartSide part_side(const Instruction& instruction) {
  if (!names_its_operands(instruction)) return PartSide::kNeither;
  const std::string& target = instruction.as<CustomCallAttributes>().target;
  if (target == "xla.sdy.GlobalToLocalShape" || target == "SPMDFullToShardShape") return PartSide::kResults;
  if (target == "xla.sdy.LocalToGlobalShape" || target == "SPMDShardToFullShape") return PartSide::kOperands;
  return PartSide::kNeither;
}

}  // namespace lowtide::engine
