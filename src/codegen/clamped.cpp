#include "codegen/clamped.h"

#include <algorithm>

namespace lowtide::engine {

std::optional<ClampedIndex> clamped_index(const Nest& nest, const Affine& index, int32_t lane_loop,
                                          const std::vector<bool>& varying) {
  const auto at = [&](NodeId id) -> const Node& { return nest.nodes[id]; };
  ClampedIndex clamped;
  clamped.rest.constant = index.constant;
  for (const auto& term : index.terms) {
    if (!varying[term.atom]) {
      clamped.rest.terms.push_back(term);
      continue;
    }
    if (clamped.linear != kNoId) return {};
    clamped.linear = term.atom;
    clamped.coefficient = term.coefficient;
  }
  if (clamped.linear == kNoId) return {};
  bool any = false;
  for (const Node* node = &at(clamped.linear);
       node->kind == NodeKind::kOperation && (node->opcode == Opcode::kMaximum || node->opcode == Opcode::kMinimum);
       node = &at(clamped.linear)) {
    const bool first = at(node->operands[0]).kind == NodeKind::kConstant;
    const Node& bound = at(node->operands[first ? 0 : 1]);
    if (bound.kind != NodeKind::kConstant || node->type != ElementType::kS64) return {};
    const auto value = static_cast<int64_t>(bound.bits[0]);
    if (node->opcode == Opcode::kMaximum) clamped.least = std::max(clamped.least, value);
    if (node->opcode == Opcode::kMinimum) clamped.greatest = std::min(clamped.greatest, value);
    clamped.linear = node->operands[first ? 1 : 0];
    any = true;
  }
  const Node& linear = at(clamped.linear);
  if (!any || (linear.kind != NodeKind::kAffine && linear.kind != NodeKind::kLoopIndex)) return {};
  if (linear.kind == NodeKind::kLoopIndex) {
    clamped.step = linear.loop == lane_loop ? clamped.coefficient : 0;
  } else {
    for (const auto& term : linear.affine.terms) {
      const Node& atom = at(term.atom);
      if (atom.kind == NodeKind::kLoopIndex && atom.loop == lane_loop) {
        clamped.step += term.coefficient * clamped.coefficient;
      } else if (varying[term.atom]) {
        return {};
      }
    }
  }
  if (clamped.step != 1 && clamped.step != -1) return {};
  return clamped;
}

}  // namespace lowtide::engine
