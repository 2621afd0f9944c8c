#include "nest/weight.h"

namespace lowtide::engine {

int weight_of(const Node& node) {
  if (node.kind != NodeKind::kOperation) return 0;
  if (!is_floating(node.type) && !is_complex(node.type)) return 1;
  switch (node.opcode) {
    case Opcode::kAbs:
    case Opcode::kAdd:
    case Opcode::kCompare:
    case Opcode::kConvert:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kSelect:
    case Opcode::kSubtract: return 1;
    default: return 8;
  }
}

}  // namespace lowtide::engine
