#include "report/graph.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

constexpr int kLongestChain = 200;  // renamings followed before a chain counts as endless

ShapeIndex without_first(const ShapeIndex& index) { return {index.begin() + (index.empty() ? 0 : 1), index.end()}; }

ShapeIndex with_first(int64_t first, const ShapeIndex& index) {
  ShapeIndex result = {first};
  result.insert(result.end(), index.begin(), index.end());
  return result;
}

int64_t parameter_number(const Instruction& parameter) {
  const auto* attributes = parameter.if_as<ParameterAttributes>();
  return attributes ? attributes->number : 0;
}

// The value that a root tuple has as element `index`; the root itself if it isn't a tuple.
ValueRef element_of_root(const Instruction& root, const ShapeIndex& index) {
  if (root.opcode == Opcode::kTuple && !index.empty() && index[0] < static_cast<int64_t>(root.operands.size())) {
    return {root.operands[index[0]], without_first(index)};
  }
  return {&root, index};
}

}  // namespace

Graph::Graph(const Module& module) : module_(&module) {
  users_.resize(static_cast<size_t>(module.id_limit()));
  callers_.resize(module.computations().size());
  positions_.reserve(module.computations().size());
  for (size_t i = 0; i < module.computations().size(); ++i) positions_.emplace_back(module.computations()[i].get(), i);
  std::sort(positions_.begin(), positions_.end());
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      for (const Instruction* operand : instruction->operands) {
        auto& users = users_[operand->id];
        if (users.empty() || users.back() != instruction.get()) users.push_back(instruction.get());
      }
      for (const Computation* called : instruction->called) {
        const auto found = std::lower_bound(positions_.begin(), positions_.end(), std::pair{called, size_t{0}});
        if (found != positions_.end() && found->first == called) callers_[found->second].push_back(instruction.get());
      }
    }
  }
}

const std::vector<const Instruction*>& Graph::callers(const Computation& computation) const {
  static const std::vector<const Instruction*> kNobody;
  const auto found = std::lower_bound(positions_.begin(), positions_.end(), std::pair{&computation, size_t{0}});
  return found != positions_.end() && found->first == &computation ? callers_[found->second] : kNobody;
}

std::optional<ValueRef> Graph::behind(const ValueRef& value) const {
  const Instruction& i = *value.instruction;
  switch (i.opcode) {
    case Opcode::kGetTupleElement:
      if (i.operands.empty()) return std::nullopt;
      return ValueRef{i.operands[0], with_first(i.as<TupleIndexAttributes>().index, value.index)};
    case Opcode::kTuple: {
      ValueRef element = element_of_root(i, value.index);
      if (element.instruction == &i) return std::nullopt;
      return element;
    }
    case Opcode::kBitcast:
    case Opcode::kReshape:
    case Opcode::kOptBarrier:
    case Opcode::kCopyDone:
      if (i.operands.empty()) return std::nullopt;
      return ValueRef{i.operands[0], i.opcode == Opcode::kCopyDone ? ShapeIndex{0} : value.index};
    case Opcode::kCall:
    case Opcode::kFusion:
      if (i.called.empty() || i.called[0]->root == nullptr) return std::nullopt;
      return element_of_root(*i.called[0]->root, value.index);
    case Opcode::kWhile: {
      if (i.called.size() < 2 || i.called[1]->root == nullptr || value.index.empty()) return std::nullopt;
      return element_of_root(*i.called[1]->root, value.index);
    }
    case Opcode::kParameter: {
      if (i.parent == nullptr) return std::nullopt;
      const auto& callers = this->callers(*i.parent);
      if (callers.empty()) return std::nullopt;
      const Instruction& caller = *callers[0];
      const auto number = static_cast<size_t>(parameter_number(i));
      if (caller.opcode == Opcode::kWhile && !caller.operands.empty()) return ValueRef{caller.operands[0], value.index};
      const bool binds = caller.opcode == Opcode::kCall || caller.opcode == Opcode::kFusion;
      if (!binds || number >= caller.operands.size()) return std::nullopt;
      return ValueRef{caller.operands[number], value.index};
    }
    case Opcode::kCustomCall:
      if (!is_annotation(i)) return std::nullopt;
      return ValueRef{i.operands[0], value.index};
    default: return std::nullopt;
  }
}

ValueRef Graph::source_of(ValueRef value) const {
  for (int steps = 0; steps < kLongestChain; ++steps) {
    const auto next = behind(value);
    if (!next) return value;
    value = *next;
  }
  return value;
}

const Instruction* Graph::stack_update(const Instruction& loop, int64_t element) const {
  if (loop.opcode != Opcode::kWhile || loop.called.size() < 2 || loop.called[1]->root == nullptr) return nullptr;
  ValueRef value = element_of_root(*loop.called[1]->root, {element});
  for (int steps = 0; steps < kLongestChain; ++steps) {
    const Instruction& i = *value.instruction;
    if (i.opcode == Opcode::kDynamicUpdateSlice) return &i;
    if (i.opcode == Opcode::kParameter || i.opcode == Opcode::kWhile) return nullptr;
    if (i.opcode == Opcode::kCopy || i.opcode == Opcode::kConvert || i.opcode == Opcode::kTranspose) {
      value = {i.operands[0], {}};
      continue;
    }
    const auto next = behind(value);
    if (!next) return nullptr;
    value = *next;
  }
  return nullptr;
}

const Shape& shape_of(const ValueRef& value) { return subshape(value.instruction->shape, value.index); }

std::string value_name(const ValueRef& value) {
  std::string name = "%" + value.instruction->name;
  if (!value.index.empty()) name += to_string(value.index);
  return name;
}

bool is_annotation(const Instruction& instruction) {
  const auto* call = instruction.if_as<CustomCallAttributes>();
  if (call == nullptr || instruction.operands.size() != 1) return false;
  for (const char* target : {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "xla.sdy.FuncResultSharding",
                             "LayoutConstraint", "annotate_device_placement"}) {
    if (call->target == target) return true;
  }
  return false;
}

}  // namespace lowtide::engine
