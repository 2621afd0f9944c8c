#include "schedule/instruction_order.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace lowtide::engine {
namespace {

using Times = std::unordered_map<const Instruction*, Step>;

void note_times(const std::vector<ProgramStep>& steps, const Program& program, Times& times) {
  for (const ProgramStep& step : steps) {
    if (step.region != kNoId) {
      for (const LeafRef& output : program.regions[step.region].outputs) {
        times[output.instruction] = step.at;
      }
    } else if (step.instruction != nullptr && step.kind != StepKind::kCopy) {
      times[step.instruction] = step.at;
    }
    for (const auto& block : step.blocks) note_times(block, program, times);
  }
}

/// The instructions in this order; nothing if it is no order of this computation's instructions.
std::optional<std::vector<Instruction*>> ordered(const Computation& computation, const std::vector<int32_t>& places) {
  const auto& given = computation.instructions();
  if (places.size() != given.size()) return {};
  std::vector<Instruction*> order;
  std::unordered_set<const Instruction*> placed;
  for (const int32_t place : places) {
    if (place < 0 || static_cast<size_t>(place) >= given.size()) return {};
    Instruction* i = given[place].get();
    for (const auto* before : {&i->operands, &i->control_predecessors}) {
      if (!std::ranges::all_of(*before, [&](const Instruction* b) { return placed.contains(b); })) return {};
    }
    if (!placed.insert(i).second) return {};
    order.push_back(i);
  }
  return order;
}

}  // namespace

InstructionOrder put_in_order(Module& module, const Program& program) {
  Times times;
  note_times(program.steps, program, times);
  InstructionOrder all;
  for (const auto& computation : module.computations()) {
    std::vector<Instruction*> order;
    std::unordered_map<const Instruction*, int32_t> place;
    for (const auto& i : computation->instructions()) {
      place[i.get()] = static_cast<int32_t>(order.size());
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
    std::vector<int32_t> places;
    for (const Instruction* i : order) places.push_back(place.at(i));
    if (std::ranges::is_sorted(places)) continue;
    computation->reorder(order);
    all.emplace(computation->name, std::move(places));
  }
  return all;
}

bool put_in_order(Module& module, const InstructionOrder& order) {
  std::vector<std::pair<Computation*, std::vector<Instruction*>>> found;
  for (const auto& computation : module.computations()) {
    const auto places = order.find(computation->name);
    if (places == order.end()) continue;
    auto instructions = ordered(*computation, places->second);
    if (!instructions) return false;
    found.emplace_back(computation.get(), std::move(*instructions));
  }
  if (found.size() != order.size()) return false;
  for (auto& [computation, instructions] : found) computation->reorder(instructions);
  return true;
}

}  // namespace lowtide::engine
