#include "nest/identities.h"

#include <algorithm>

#include "nest/blocks.h"

namespace lowtide::engine {

// x * 1, x / 1, x + -0 and x - 0 are x, whatever x is.
std::optional<NodeId> simplified_number(NestBuilder& nest, const Node& made) {
  if (made.operands.size() != 2) return {};
  const NodeId a = made.operands[0], b = made.operands[1];
  if (nest.node(a).type != made.type || nest.node(b).type != made.type) return {};
  const auto is = [&](NodeId id, double value) { return nest.is_constant(id) && id == nest.number(made.type, value); };
  switch (made.opcode) {
    case Opcode::kMultiply: return is(b, 1) ? std::optional(a) : is(a, 1) ? std::optional(b) : std::nullopt;
    case Opcode::kDivide: return is(b, 1) ? std::optional(a) : std::nullopt;
    case Opcode::kAdd: return is(b, -0.0) ? std::optional(a) : is(a, -0.0) ? std::optional(b) : std::nullopt;
    case Opcode::kSubtract: return is(b, 0.0) ? std::optional(a) : std::nullopt;
    default: return {};
  }
}

namespace {

int32_t depth_of(const NestBuilder& nest, NodeId id) {
  if (nest.is_constant(id)) return -1;
  return static_cast<int32_t>(loops_around(nest.nest(), nest.node(id).block).size());
}

}  // namespace

// Rewrites (x + y) + z as x + (y + z) if y and z are available further outside than x, to compute their sum there.
std::optional<NodeId> regrouped(NestBuilder& nest, const Node& made) {
  switch (made.opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor: break;
    default: return {};
  }
  if (!is_integral(made.type)) return {};
  for (size_t k = 0; k < 2; ++k) {
    const Node& inner = nest.node(made.operands[k]);
    const NodeId z = made.operands[1 - k];
    if (inner.kind != NodeKind::kOperation || inner.opcode != made.opcode || inner.type != made.type) continue;
    for (size_t j = 0; j < 2; ++j) {
      const NodeId x = inner.operands[1 - j], y = inner.operands[j];
      if (std::max(depth_of(nest, y), depth_of(nest, z)) >= depth_of(nest, x)) continue;
      const NodeId outside = nest.operation(made.opcode, made.type, {y, z});
      return nest.operation(made.opcode, made.type, {x, outside});
    }
  }
  return {};
}

}  // namespace lowtide::engine
