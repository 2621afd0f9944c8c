#include "ops/scalar_program.h"

#include <cstring>
#include <unordered_map>

#include "ops/ordering.h"

namespace lowtide::engine {
namespace {

template <class T>
bool compare_elements(const CompareAttributes& comparison, const std::byte* a, const std::byte* b) {
  T x, y;
  std::memcpy(&x, a, sizeof(T));
  std::memcpy(&y, b, sizeof(T));
  return holds(comparison, widen(x), widen(y));
}

bool is_scalar(const Instruction& instruction) {
  return instruction.shape.is_array() && instruction.shape.dims.empty();
}

}  // namespace

bool ScalarProgram::add(const Instruction& instruction, size_t to, const std::array<size_t, 3>& from) {
  const auto& operands = instruction.operands;
  Step step;
  step.to = to;
  step.from = from;
  const auto of_type = [&](size_t k, ElementType type) { return operands[k]->shape.type == type; };
  if (instruction.opcode == Opcode::kCompare) {
    if (operands.size() != 2 || !of_type(1, operands[0]->shape.type)) return false;
    step.kind = Step::Kind::kCompare;
    step.comparison = instruction.as<CompareAttributes>();
    step.compare = dispatch(operands[0]->shape.type, []<class T>() -> Compare { return compare_elements<T>; });
  } else if (instruction.opcode == Opcode::kSelect) {
    const ElementType type = instruction.shape.type;
    if (operands.size() != 3 || !of_type(0, ElementType::kPred) || !of_type(1, type) || !of_type(2, type)) return false;
    step.kind = Step::Kind::kSelect;
  } else if (instruction.opcode == Opcode::kNot && of_type(0, ElementType::kPred)) {
    step.kind = Step::Kind::kNot;
  } else if (operands.size() == 2) {
    const ElementType type = instruction.shape.type;
    if (!of_type(0, type) || !of_type(1, type)) return false;
    step.combine = combine_by(instruction.opcode, type);
    if (!step.combine) return false;
  } else {
    return false;
  }
  steps_.push_back(step);
  return true;
}

std::optional<ScalarProgram> ScalarProgram::compile(const Computation& computation) {
  ScalarProgram program;
  std::unordered_map<const Instruction*, size_t> cell;
  program.parameters_.resize(computation.parameters().size());
  for (const auto& owned : computation.instructions()) {
    const Instruction& instruction = *owned;
    if (&instruction == computation.root && instruction.opcode == Opcode::kTuple) continue;
    if (!is_scalar(instruction)) return std::nullopt;
    const size_t to = program.cells_.size();
    program.cells_.emplace_back();
    cell.emplace(&instruction, to);
    if (instruction.opcode == Opcode::kParameter) {
      program.parameters_[instruction.as<ParameterAttributes>().number] = to;
      continue;
    }
    if (instruction.opcode == Opcode::kConstant) {
      const Value& value = instruction.as<ConstantAttributes>().value;
      if (!value || !value->known()) return std::nullopt;
      std::memcpy(program.cells_[to].bytes.data(), value->bytes().data(), value->bytes().size());
      continue;
    }
    std::array<size_t, 3> from{};
    if (instruction.operands.empty() || instruction.operands.size() > 3) return std::nullopt;
    for (size_t k = 0; k < instruction.operands.size(); ++k) from[k] = cell.at(instruction.operands[k]);
    if (!program.add(instruction, to, from)) return std::nullopt;
  }
  const Instruction& root = *computation.root;
  const bool is_tuple = root.opcode == Opcode::kTuple;
  for (const Instruction* result : is_tuple ? root.operands : std::vector<Instruction*>{computation.root}) {
    if (!cell.contains(result)) return std::nullopt;
    program.results_.push_back(cell.at(result));
  }
  return program;
}

void ScalarProgram::run() {
  for (const Step& step : steps_) {
    Cell& to = cells_[step.to];
    const Cell& a = cells_[step.from[0]];
    const Cell& b = cells_[step.from[1]];
    switch (step.kind) {
      case Step::Kind::kCombine:
        to = a;
        step.combine(to.bytes.data(), b.bytes.data());
        break;
      case Step::Kind::kCompare:
        to.bytes[0] = std::byte{step.compare(step.comparison, a.bytes.data(), b.bytes.data())};
        break;
      case Step::Kind::kSelect: to = a.bytes[0] != std::byte{0} ? b : cells_[step.from[2]]; break;
      case Step::Kind::kNot: to.bytes[0] = a.bytes[0] != std::byte{0} ? std::byte{0} : std::byte{1}; break;
    }
  }
}

}  // namespace lowtide::engine
