#include "nest/reach.h"

#include <optional>

namespace lowtide::engine {
namespace {

/// clamp(least, x, greatest) of an affine x, as for windows at an array's edge.
struct Clamp {
  const Affine* of = nullptr;
  Int128 least = 0, greatest = 0;
};

std::optional<Clamp> clamp_of(const Nest& nest, const Node& node) {
  if (node.kind != NodeKind::kOperation || node.opcode != Opcode::kClamp) return {};
  const auto operand = [&](size_t k) -> const Node& { return nest.nodes[node.operands[k]]; };
  if (operand(0).kind != NodeKind::kConstant || operand(1).kind != NodeKind::kAffine ||
      operand(2).kind != NodeKind::kConstant)
    return {};
  const Int128 least = static_cast<int64_t>(operand(0).bits[0]), greatest = static_cast<int64_t>(operand(2).bits[0]);
  return least <= greatest ? std::optional(Clamp{&operand(1).affine, least, greatest}) : std::nullopt;
}

void add(const Nest& nest, Int128 factor, const Affine& element, NodeId index, Reach& reach);

/// The clamped value is x, moved inwards by at most the distance by which x can exceed the bounds.
void add_clamp(const Nest& nest, Int128 factor, const Clamp& clamp, NodeId index, Reach& reach) {
  const Reach all = reach_of(nest, *clamp.of, kNoId);
  add(nest, factor, *clamp.of, index, reach);
  const Int128 up = std::max<Int128>(0, clamp.least - all.least),
               down = std::max<Int128>(0, all.greatest - clamp.greatest);
  reach.least -= factor > 0 ? factor * down : -factor * up;
  reach.greatest += factor > 0 ? factor * up : -factor * down;
}

void add(const Nest& nest, Int128 factor, const Affine& element, NodeId index, Reach& reach) {
  reach.least += factor * element.constant;
  reach.greatest += factor * element.constant;
  for (const auto& term : element.terms) {
    const Int128 coefficient = factor * term.coefficient;
    if (term.atom == index) {
      reach.step += coefficient;
      continue;
    }
    const Node& atom = nest.nodes[term.atom];
    const auto clamp = clamp_of(nest, atom);
    if (clamp && std::ranges::find(clamp->of->terms, index, &Affine::Term::atom) != clamp->of->terms.end()) {
      add_clamp(nest, coefficient, *clamp, index, reach);
      continue;
    }
    const Int128 low = coefficient * atom.least, high = coefficient * atom.greatest;
    reach.least += std::min(low, high);
    reach.greatest += std::max(low, high);
  }
}

}  // namespace

Reach reach_of(const Nest& nest, const Affine& element, NodeId index) {
  Reach reach;
  add(nest, 1, element, index, reach);
  return reach;
}

}  // namespace lowtide::engine
