#include "codegen/kernel_plan.h"

#include "codegen/pieces.h"

namespace lowtide {
namespace {

// Spreads the innermost parallel loops, or else the reductions.
bool spread(const Nest& nest, int32_t loop, KernelPlan& plan) {
  const Loop& l = nest.loops[static_cast<size_t>(loop)];
  bool inside = false;
  for (const int32_t block : {l.head, l.body}) {
    if (block == kNoId) continue;
    for (const Item& item : nest.blocks[static_cast<size_t>(block)].items) {
      if (item.kind == Item::kLoop) inside = spread(nest, item.id, plan) || inside;
    }
  }
  if (inside) return true;
  const bool reduces = l.kind == LoopKind::kReduce && l.combine && !l.carried.empty() && !l.neutral.empty();
  if (l.kind != LoopKind::kParallel && !reduces) return false;
  plan.lanes[static_cast<size_t>(loop)] = 32;
  return true;
}

}  // namespace

KernelPlan plan_kernel(const Nest& nest, bool) {
  KernelPlan plan{.lanes = std::vector<int32_t>(nest.loops.size(), 0), .pieces = pieces_of(nest)};
  for (const Item& item : nest.blocks[0].items) {
    if (item.kind == Item::kLoop) spread(nest, item.id, plan);
  }
  for (PiecePlan& piece : plan.pieces) {
    piece.figures.cost = 1;
    if (piece.loop != kNoId && plan.lanes[static_cast<size_t>(piece.loop)] > 0) {
      piece.figures.granule = plan.lanes[static_cast<size_t>(piece.loop)];
    }
  }
  return plan;
}

}  // namespace lowtide
