#include "passes/shrink_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

Computation& computation_at(Module& module, Position position) { return *module.computations()[position.computation]; }

Instruction* instruction_at(Module& module, Position position) {
  return computation_at(module, position).instructions()[position.instruction].get();
}

void drop_layouts(Shape& shape) {
  shape.layout.reset();
  for (Shape& element : shape.elements) drop_layouts(element);
}

void replace_uses(Computation& computation, const Instruction* old, Instruction* by) {
  for (const auto& user : computation.instructions()) {
    std::ranges::replace(user->operands, const_cast<Instruction*>(old), by);
    std::erase(user->control_predecessors, old);
  }
  if (computation.root == old) computation.root = by;
}

/// Puts the last `count` instructions first.
void move_to_front(Computation& computation, size_t count) {
  std::vector<Instruction*> order;
  for (const auto& instruction : computation.instructions()) order.push_back(instruction.get());
  std::ranges::rotate(order, order.end() - static_cast<std::ptrdiff_t>(count));
  computation.reorder(order);
}

std::unique_ptr<Instruction> made(Opcode opcode, const std::string& name, const Shape& shape, Attributes attributes) {
  auto instruction = std::make_unique<Instruction>();
  instruction->opcode = opcode;
  instruction->name = name;
  instruction->shape = shape;
  instruction->attributes = std::move(attributes);
  return instruction;
}

/// Appends a replacement for a value of this shape; returns how many instructions that needed.
size_t append_stand_in(Computation& computation, Names& names, const Shape& shape, bool as_argument, int64_t number) {
  Shape plain = shape;
  drop_layouts(plain);
  if (as_argument) {
    computation.append(made(Opcode::kParameter, names.unused("given"), plain, ParameterAttributes{number}));
    return 1;
  }
  const Shape element = Shape::scalar(shape.type);
  Instruction* const scalar = computation.append(
      made(Opcode::kConstant, names.unused("zero"), element, ConstantAttributes{std::make_shared<Literal>(element)}));
  if (plain.dims.empty()) return 1;
  auto broadcast = made(Opcode::kBroadcast, names.unused("zeros"), plain, DimensionsAttributes{});
  broadcast->operands = {scalar};
  computation.append(std::move(broadcast));
  return 2;
}

bool is_cheap(const Instruction& instruction) {
  if (instruction.opcode == Opcode::kParameter) return true;
  if (instruction.opcode == Opcode::kConstant) return instruction.shape.dims.empty();
  return instruction.opcode == Opcode::kBroadcast && instruction.operand(0).opcode == Opcode::kConstant &&
         instruction.operand(0).shape.dims.empty();
}

}  // namespace

bool drop_descriptions(Module& module) {
  module.input_output_alias.clear();
  module.buffer_donors.clear();
  module.entry_layout.reset();
  module.frontend_attributes.clear();
  module.extra.clear();
  module.stack = {};
  module.is_scheduled = false;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      drop_layouts(instruction->shape);
      instruction->control_predecessors.clear();
      instruction->sharding.reset();
      instruction->metadata = {};
      instruction->frontend_attributes.clear();
      instruction->backend_config.clear();
      instruction->extra.clear();
    }
  }
  return true;
}

bool drop_results(Module& module, size_t begin, size_t end) {
  Instruction* const root = module.entry->root;
  if (root->opcode != Opcode::kTuple || begin >= root->operands.size()) return false;
  end = std::min(end, root->operands.size());
  if (end - begin == root->operands.size()) return false;
  module.input_output_alias.clear();
  module.entry_layout.reset();
  const auto first = root->operands.begin() + static_cast<std::ptrdiff_t>(begin);
  root->operands.erase(first, first + static_cast<std::ptrdiff_t>(end - begin));
  std::vector<Shape> elements;
  for (const Instruction* operand : root->operands) elements.push_back(operand->shape);
  root->shape = Shape::tuple(std::move(elements));
  root->sharding.reset();
  if (root->operands.size() == 1 && root->operands[0]->shape.is_array()) module.entry->root = root->operands[0];
  return true;
}

bool make_root(Module& module, Position position) {
  if (&computation_at(module, position) != module.entry) return false;
  Instruction* const root = instruction_at(module, position);
  if (root == module.entry->root || root->opcode == Opcode::kParameter || !root->shape.is_array()) return false;
  module.entry->root = root;
  module.input_output_alias.clear();
  module.entry_layout.reset();
  return true;
}

bool cut_off(Module& module, Position begin, size_t end) {
  Computation& computation = computation_at(module, begin);
  const bool is_entry = &computation == module.entry;
  Names names(computation);
  auto next = static_cast<int64_t>(computation.parameters().size());
  std::vector<Instruction*> old;
  const size_t count = computation.instructions().size();
  for (size_t i = begin.instruction; i < std::min(end, count); ++i) {
    Instruction* const instruction = computation.instructions()[i].get();
    if (instruction->shape.is_array() && !is_cheap(*instruction) && instruction != module.entry->root) {
      old.push_back(instruction);
    }
  }
  for (const Instruction* instruction : old) {
    append_stand_in(computation, names, instruction->shape, is_entry, next++);
    replace_uses(computation, instruction, computation.instructions().back().get());
  }
  move_to_front(computation, computation.instructions().size() - count);
  if (is_entry) module.entry_layout.reset();
  return !old.empty();
}

bool bypass(Module& module, Position position, size_t operand) {
  Instruction* const instruction = instruction_at(module, position);
  if (operand >= instruction->operands.size()) return false;
  Instruction* const by = instruction->operands[operand];
  if (!same_shape(by->shape, instruction->shape)) return false;
  replace_uses(computation_at(module, position), instruction, by);
  return true;
}

bool halve(Module& module, Position position) {
  Instruction* const instruction = instruction_at(module, position);
  if (instruction->opcode != Opcode::kConstant || !instruction->shape.dims.empty()) return false;
  const Literal* const literal = known_constant(*instruction);
  if (!literal || !is_integral(instruction->shape.type) || integer_at(*literal, 0) <= 1) return false;
  auto half = std::make_shared<Literal>(instruction->shape);
  dispatch(instruction->shape.type, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) half->data<T>()[0] = static_cast<T>(literal->data<T>()[0] / 2);
  });
  instruction->attributes = ConstantAttributes{std::move(half)};
  for (const auto& computation : module.computations()) {  // known trip counts no longer hold
    for (const auto& other : computation->instructions()) {
      if (other->opcode == Opcode::kWhile) other->backend_config.clear();
    }
  }
  return true;
}

bool drop_arguments(Module& module) {
  std::unordered_set<const Instruction*> read = {module.entry->root};
  for (const auto& instruction : module.entry->instructions()) {
    read.insert(instruction->operands.begin(), instruction->operands.end());
  }
  const std::vector<Instruction*> parameters = module.entry->parameters();
  const auto is_dead = [&](const Instruction& i) { return i.opcode == Opcode::kParameter && !read.contains(&i); };
  if (std::ranges::none_of(parameters, [&](const Instruction* p) { return is_dead(*p); })) return false;
  int64_t number = 0;
  for (Instruction* parameter : parameters) {
    if (!is_dead(*parameter)) parameter->attributes = ParameterAttributes{number++};
  }
  module.entry->remove_if(is_dead);
  module.input_output_alias.clear();
  module.buffer_donors.clear();
  module.entry_layout.reset();
  return true;
}

}  // namespace lowtide::engine
