#include "passes/in_place/slices.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace lowtide::engine {

bool is_zero(const Instruction& i) {
  if (i.opcode == Opcode::kBroadcast) return is_zero(i.operand(0));
  const Literal* value = known_constant(i);
  if (!value) return false;
  const auto bytes = value->bytes();
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

Instruction* behind_reshapes(Instruction* i) {
  while (i->opcode == Opcode::kReshape) i = i->operands[0];
  return i;
}

}  // namespace lowtide::engine
