#include "interp/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ir/side_effects.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kLargestValue = int64_t{8} << 30;  ///< bytes; the interpreter is too slow for larger values

bool is_unbounded(const Shape& shape) {
  return std::ranges::find(shape.dims, kUnboundedDim) != shape.dims.end() ||
         std::ranges::any_of(shape.elements, is_unbounded);
}

}  // namespace

Result<PreparedComputation> prepare(const Computation& computation) {
  const auto& instructions = computation.instructions();
  std::unordered_map<const Instruction*, size_t> position;
  for (size_t i = 0; i < instructions.size(); ++i) position.emplace(instructions[i].get(), i);

  // Users follow their operands: one walk from the end finds what is needed, and each value's last reader.
  std::vector<bool> needed(instructions.size(), false);
  constexpr size_t kNobody = SIZE_MAX;
  std::vector<size_t> last_reader(instructions.size(), kNobody);
  for (size_t i = instructions.size(); i-- > 0;) {
    const Instruction& instruction = *instructions[i];
    needed[i] = needed[i] || &instruction == computation.root || has_side_effect(instruction);
    if (!needed[i]) continue;
    for (const Instruction* operand : instruction.operands) {
      const size_t p = position.at(operand);
      needed[p] = true;
      if (last_reader[p] == kNobody) last_reader[p] = i;
    }
  }

  PreparedComputation program;
  program.parameters.assign(computation.parameters().size(), -1);
  std::vector<int32_t> slot(instructions.size(), -1);
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& instruction = *instructions[i];
    if (!needed[i]) continue;
    if (is_unbounded(instruction.shape)) return unsupported_at(instruction, "dimensions without a bound can't be run");
    const bool is_root = &instruction == computation.root;
    if (is_root || last_reader[i] != kNobody) slot[i] = program.slots++;
    if (is_root) program.root = slot[i];
    if (instruction.opcode == Opcode::kParameter) {
      program.parameters[instruction.as<ParameterAttributes>().number] = slot[i];
      continue;
    }
    PreparedComputation::Step step;
    step.instruction = &instruction;
    step.eval = rule_of(instruction.opcode).eval;
    if (!step.eval) return unsupported_at(instruction, "the interpreter can't run this operation");
    if (logical_bytes(instruction.shape) > kLargestValue) {
      return unsupported_at(instruction,
                            to_string_without_layout(instruction.shape) + " is too large for the interpreter");
    }
    step.result = slot[i];
    for (const Instruction* operand : instruction.operands) {
      const size_t p = position.at(operand);
      step.operands.push_back(slot[p]);
      if (last_reader[p] == i && operand != computation.root) {
        step.frees.push_back(slot[p]);
        last_reader[p] = kNobody;  // an operand that occurs twice is freed once
      }
    }
    program.steps.push_back(std::move(step));
  }
  return program;
}

}  // namespace lowtide::engine
