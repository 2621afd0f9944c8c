#include "analysis/late_readers.h"

#include <cstdint>

namespace lowtide::engine {

bool carries_unchanged(const Instruction& loop, size_t element) {
  const Instruction& next = *loop.called[1]->root;
  if (next.opcode != Opcode::kTuple) return false;
  const Instruction& i = *next.operands[element];
  return i.opcode == Opcode::kGetTupleElement && i.operands[0]->opcode == Opcode::kParameter &&
         i.as<TupleIndexAttributes>().index == static_cast<int64_t>(element);
}

InPlaceUpdate update_at(const Instruction& instruction) {
  const bool is_update = instruction.opcode == Opcode::kDynamicUpdateSlice ||
                         (instruction.opcode == Opcode::kScatter && instruction.shape.is_array());
  if (is_update) return {&instruction, nullptr, {0}};
  if (instruction.opcode != Opcode::kWhile || instruction.operands[0]->opcode != Opcode::kTuple) return {};
  InPlaceUpdate update{instruction.operands[0], &instruction};
  for (size_t k = 0; k < update.by->operands.size(); ++k) {
    if (!carries_unchanged(instruction, k)) update.operands.push_back(k);
  }
  return update;
}

OrderedBefore::OrderedBefore(const InPlaceUpdate& update) : by_(update.by) {
  std::vector<const Instruction*> open;
  for (size_t k = 0; k < by_->operands.size(); ++k) {
    if (update.loop == nullptr || !carries_unchanged(*update.loop, k)) open.push_back(by_->operands[k]);
  }
  while (!open.empty()) {
    const Instruction* i = open.back();
    open.pop_back();
    if (before_.insert(i).second) open.insert(open.end(), i->operands.begin(), i->operands.end());
  }
}

std::vector<const Instruction*> OrderedBefore::late_readers(const Instruction& array, const Uses& uses) const {
  std::vector<const Instruction*> late;
  for (const Instruction* user : uses.of(array)) {
    if (user != by_ && !before_.contains(user)) late.push_back(user);
  }
  return late;
}

}  // namespace lowtide::engine
