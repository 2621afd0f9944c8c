#include "schedule/instruction_order.h"

#include <algorithm>
#include <unordered_map>

namespace lowtide {
namespace {

using Times = std::unordered_map<const Instruction*, Step>;

void note_times(const std::vector<ProgramStep>& steps, const Program& program, Times& times) {
  for (const ProgramStep& step : steps) {
    if (step.region != kNoId) {
      for (const LeafRef& output : program.regions[static_cast<size_t>(step.region)].outputs) {
        times[output.instruction] = step.at;
      }
    } else if (step.instruction != nullptr && step.kind != StepKind::kCopy) {
      times[step.instruction] = step.at;
    }
    for (const auto& block : step.blocks) note_times(block, program, times);
  }
}

}  // namespace

void put_in_order(Module& module, const Program& program) {
  Times times;
  note_times(program.steps, program, times);
  for (const auto& computation : module.computations()) {
    std::vector<Instruction*> order;
    for (const auto& i : computation->instructions()) {
      Step at = -1;
      for (const Instruction* operand : i->operands) at = std::max(at, times[operand]);
      const auto own = times.find(i.get());
      if (own == times.end()) {
        times[i.get()] = at;
      } else {
        own->second = std::max(own->second, at);
      }
      order.push_back(i.get());
    }
    std::ranges::stable_sort(order, {}, [&](const Instruction* i) { return times[i]; });
    computation->reorder(order);
  }
}

}  // namespace lowtide
