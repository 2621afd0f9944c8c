#include "passes/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ops/op_rule.h"

namespace lowtide::engine {

void Replacements::replace(const Instruction& old, Instruction& by) {
  LT_ASSERT(same_shape(old.shape, by.shape), fmt::format("{} can't stand in for {}: {} is not {}", by.name, old.name,
                                                         to_string(by.shape), to_string(old.shape)));
  by_[old.id] = &by;
  ++count_;
}

bool Replacements::is_replaced(const Instruction& instruction) const {
  // Ids from by_.size() on belong to instructions created later.
  const auto id = static_cast<size_t>(instruction.id);
  return id < by_.size() && by_[id] != nullptr;
}

Instruction* Replacements::resolve(Instruction* instruction) const {
  while (is_replaced(*instruction)) instruction = by_[instruction->id];
  return instruction;
}

void Replacements::apply_to(Instruction& user) const {
  for (Instruction*& operand : user.operands) operand = resolve(operand);
  for (Instruction*& before : user.control_predecessors) before = resolve(before);
}

void Replacements::finish(Computation& computation) const {
  computation.root = resolve(computation.root);
  if (count_ > 0) computation.remove_if([this](const Instruction& i) { return is_replaced(i); });
}

std::string Names::unused(const std::string& base) {
  if (taken_.empty()) {
    taken_.reserve(2 * computation_->instructions().size());
    for (const auto& instruction : computation_->instructions()) taken_.insert(instruction->name);
  }
  std::string candidate = base;
  int& next = next_.emplace(base, 1).first->second;
  while (!taken_.insert(candidate).second) candidate = fmt::format("{}.{}", base, next++);
  return candidate;
}

std::string unused_name(const Computation& computation, const std::string& base) {
  bool is_taken = false;
  std::vector<uint32_t> numbers;
  for (const auto& instruction : computation.instructions()) {
    const std::string_view name = instruction->name;
    if (!name.starts_with(base)) continue;
    if (name.size() == base.size()) is_taken = true;
    if (name.size() < base.size() + 2 || name[base.size()] != '.') continue;
    const std::string_view digits = name.substr(base.size() + 1);
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
    if (error == std::errc() && end == digits.end() && digits[0] != '0') numbers.push_back(number);
  }
  if (!is_taken) return base;
  std::ranges::sort(numbers);
  uint32_t next = 1;
  for (const uint32_t number : numbers) next += number == next ? 1 : 0;
  return fmt::format("{}.{}", base, next);
}

std::vector<bool> ordered_instructions(const Module& module) {
  std::vector<bool> ordered(static_cast<size_t>(module.id_limit()), false);
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      for (const Instruction* before : instruction->control_predecessors) {
        ordered[before->id] = true;
        ordered[instruction->id] = true;
      }
    }
  }
  return ordered;
}

bool has_any(const Module& module, const OpcodeSet& opcodes) {
  return std::ranges::any_of(module.computations(), [&](const auto& computation) {
    return std::ranges::any_of(computation->instructions(), [&](const auto& i) { return opcodes.contains(i->opcode); });
  });
}

bool same_layout(const Shape& a, const Shape& b) {
  const auto layout_of = [](const Shape& shape) {
    if (shape.layout) return *shape.layout;
    Layout row_major;
    for (int64_t d = shape.rank() - 1; d >= 0; --d) row_major.minor_to_major.push_back(d);
    return row_major;
  };
  return layout_of(a) == layout_of(b);
}

Computation* add_addition(Module& module, ElementType type, const std::string& name) {
  Computation* added = module.add_computation(module.unused_computation_name(name));
  const auto append = [&](Opcode opcode, std::string named, std::vector<Instruction*> operands, Attributes attributes) {
    return append_new(*added, std::move(named), opcode, Shape::scalar(type), std::move(operands),
                      std::move(attributes));
  };
  Instruction* a = append(Opcode::kParameter, "a", {}, ParameterAttributes{0});
  Instruction* b = append(Opcode::kParameter, "b", {}, ParameterAttributes{1});
  added->root = append(Opcode::kAdd, "sum", {a, b}, {});
  return added;
}

bool counts_up(const Dims& dimensions) {
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] != static_cast<int64_t>(d)) return false;
  }
  return true;
}

bool is_plain_array(const Instruction& i) {
  return i.shape.is_array() && i.shape.dynamic.empty() && i.control_predecessors.empty() && !i.sharding;
}

bool interchangeable(const Shape& a, const Shape& b) { return same_elements(a, b, true); }

bool layouts_matter(const Module& module) {
  if (module.is_scheduled) return true;
  return has_any(module, {Opcode::kBitcast});
}

bool same_elements(const Shape& a, const Shape& b, bool layouts_matter) {
  if (!same_shape(a, b)) return false;
  const auto is_fixed = [](const Shape& s) { return std::ranges::find(s.dynamic, true) == s.dynamic.end(); };
  if (a.dynamic != b.dynamic && !(is_fixed(a) && is_fixed(b))) return false;
  if (layouts_matter && a.is_array() && !same_layout(a, b)) return false;
  for (size_t i = 0; i < a.elements.size(); ++i) {
    if (!same_elements(a.elements[i], b.elements[i], layouts_matter)) return false;
  }
  return true;
}

bool is_partitioned(const Module& module) {
  if (module.num_partitions.value_or(1) > 1) return true;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (instruction->sharding && instruction->sharding->device_count() > 1) return true;
    }
  }
  return false;
}

const Literal* known_constant(const Instruction& instruction) {
  const auto* constant = instruction.if_as<ConstantAttributes>();
  return constant && constant->value && constant->value->known() ? constant->value.get() : nullptr;
}

void turn_into(Instruction& instruction, Opcode opcode, std::vector<Instruction*> operands, Attributes attributes) {
  instruction.opcode = opcode;
  instruction.operands = std::move(operands);
  instruction.attributes = std::move(attributes);
  instruction.called.clear();
  instruction.control_predecessors.clear();
  instruction.backend_config.clear();
  instruction.frontend_attributes.clear();
  instruction.extra.clear();
}

Instruction* append_new(Computation& computation, std::string name, Opcode opcode, Shape shape,
                        std::vector<Instruction*> operands, Attributes attributes) {
  auto made = std::make_unique<Instruction>();
  made->opcode = opcode;
  made->name = std::move(name);
  made->shape = std::move(shape);
  made->operands = std::move(operands);
  made->attributes = std::move(attributes);
  return computation.append(std::move(made));
}

std::unique_ptr<Instruction> copy_of(const Instruction& instruction) {
  auto copy = std::make_unique<Instruction>(instruction);
  copy->parent = nullptr;
  return copy;
}

bool put_operands_first(Computation& computation) {
  std::vector<Instruction*> order;
  std::unordered_set<const Instruction*> done, begun;
  const auto before = [](const Instruction& i, size_t k) {
    return k < i.operands.size() ? i.operands[k] : i.control_predecessors[k - i.operands.size()];
  };
  for (const auto& first : computation.instructions()) {
    std::vector<std::pair<Instruction*, size_t>> stack{{first.get(), 0}};
    while (!stack.empty()) {
      auto& [i, next] = stack.back();
      if (next == 0 && done.contains(i)) {
        stack.pop_back();
      } else if (next == 0 && !begun.insert(i).second) {
        return false;
      } else if (next < i->operands.size() + i->control_predecessors.size()) {
        Instruction* needed = before(*i, next++);
        if (!done.contains(needed)) stack.push_back({needed, 0});
      } else {
        if (done.insert(i).second) order.push_back(i);
        stack.pop_back();
      }
    }
  }
  computation.reorder(order);
  return true;
}

std::string text_of_operation(const Instruction& instruction) {
  std::string text, payload;
  if (const auto print = rule_of(instruction.opcode).print) {
    AttributeWriter writer(text, &payload);
    print(instruction, writer);
  }
  text += payload;
  for (const RawAttribute& raw : instruction.extra) text += fmt::format(" {}={}", raw.key, raw.text);
  if (instruction.sharding) text += " " + instruction.sharding->text;
  return text + " " + instruction.frontend_attributes + " " + instruction.backend_config;
}

}  // namespace lowtide::engine
