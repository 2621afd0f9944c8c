#include "codegen/rotation.h"

namespace lowtide::engine {

std::optional<Rotation> rotation_of(const Nest& nest, NodeId id) {
  const auto at = [&](NodeId i) -> const Node& { return nest.nodes[i]; };
  const Node& sum = at(id);
  if (sum.kind != NodeKind::kOperation ||
      (sum.opcode != Opcode::kOr && sum.opcode != Opcode::kAdd && sum.opcode != Opcode::kXor)) {
    return {};
  }
  for (const auto& [l, r] :
       {std::pair(sum.operands[0], sum.operands[1]), std::pair(sum.operands[1], sum.operands[0])}) {
    const Node &left = at(l), &right = at(r);
    if (left.kind != NodeKind::kOperation || left.opcode != Opcode::kShiftLeft || right.kind != NodeKind::kOperation ||
        right.opcode != Opcode::kShiftRightLogical || left.operands[0] != right.operands[0]) {
      continue;
    }
    const Node &up = at(left.operands[1]), &down = at(right.operands[1]);
    if (up.kind != NodeKind::kConstant || down.kind != NodeKind::kConstant) continue;
    const auto width = static_cast<uint64_t>(type_bits(sum.type));
    if (up.bits[0] == 0 || up.bits[0] >= width || up.bits[0] + down.bits[0] != width) continue;
    return Rotation{left.operands[0], static_cast<uint32_t>(up.bits[0])};
  }
  return {};
}

}  // namespace lowtide::engine
