#include "analysis/roles.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "ops/attribute_text.h"
#include "ops/evaluations.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

/// So many steps tell most values of a layer apart. More would make the first and the last layers unlike the others.
constexpr int kSteps = 2;

uint64_t role_alone(const Instruction& i) {
  uint64_t role = mixed(static_cast<uint64_t>(i.opcode), static_cast<uint64_t>(i.shape.type));
  role = mixed(mixed(role, i.shape.dims), i.operands.size());
  role = mixed(role, i.shape.elements.size());
  const bool is_given = i.opcode == Opcode::kParameter || i.opcode == Opcode::kConstant;
  const auto print = rule_of(i.opcode).print;
  if (is_given || !print) return role;
  std::string text, payload;
  AttributeWriter writer(text, &payload);
  print(i, writer);
  return mixed(role, std::hash<std::string_view>()(text + payload));
}

}  // namespace

std::vector<uint64_t> roles_of(const Computation& computation) {
  const auto& instructions = computation.instructions();
  std::vector<int32_t> place(static_cast<size_t>(computation.module().id_limit()), -1);
  std::vector<uint64_t> roles;
  for (const auto& i : instructions) {
    place[i->id] = static_cast<int32_t>(roles.size());
    roles.push_back(role_alone(*i));
  }
  for (int step = 0; step < kSteps; ++step) {
    std::vector<uint64_t> next = roles, readers(roles.size(), 0);
    for (size_t p = 0; p < roles.size(); ++p) {
      for (size_t k = 0; k < instructions[p]->operands.size(); ++k) {
        const int32_t operand = place[instructions[p]->operands[k]->id];
        next[p] = mixed(next[p], roles[operand]);
        readers[operand] += mixed(roles[p], k);  // in any order
      }
    }
    for (size_t p = 0; p < roles.size(); ++p) next[p] = mixed(next[p], readers[p]);
    roles = std::move(next);
  }
  return roles;
}

std::vector<Instruction*> with_same_role(const Instruction& instruction) {
  const auto& instructions = instruction.parent->instructions();
  const std::vector<uint64_t> roles = roles_of(*instruction.parent);
  const auto own = std::ranges::find(instructions, &instruction, [](const auto& i) { return i.get(); });
  const uint64_t role = roles[own - instructions.begin()];
  std::vector<Instruction*> same;
  for (size_t p = 0; p < roles.size(); ++p) {
    if (roles[p] == role) same.push_back(instructions[p].get());
  }
  return same;
}

}  // namespace lowtide::engine
