#include "codegen/tiling.h"

#include <algorithm>
#include <cstdlib>

namespace lowtide::engine {
namespace {

constexpr int32_t kLeastSide = 16;
constexpr int64_t kLine = 64;  ///< bytes

/// The last loop in the block, or kNoId; clears `is_plain` if the block has a store or several loops.
int32_t only_loop(const Nest& nest, int32_t block, bool& is_plain) {
  int32_t found = kNoId;
  for (const Item& item : nest.blocks[block].items) {
    if (item.kind == Item::kStore) is_plain = false;
    if (item.kind != Item::kLoop) continue;
    if (found != kNoId) is_plain = false;
    found = item.id;
  }
  return found;
}

}  // namespace

Tiling find_tiling(const Nest& nest, int32_t outer, bool avx512) {
  const auto loop_at = [&](int32_t id) -> const Loop& { return nest.loops[id]; };
  Tiling tiling;
  for (int32_t id = outer;;) {
    if (loop_at(id).kind != LoopKind::kParallel) return {};
    tiling.chain.push_back(id);
    bool is_plain = true;
    const int32_t inner = only_loop(nest, loop_at(id).body, is_plain);
    if (inner == kNoId) break;
    if (!is_plain) return {};
    id = inner;
  }
  const int32_t lanes = tiling.chain.back();
  if (lanes == outer || loop_at(lanes).extent < kLeastSide / 2 || loop_at(outer).extent < kLeastSide / 2) return {};
  for (const Item& item : nest.blocks[loop_at(lanes).body].items) {
    if (item.kind != Item::kNode) continue;
    const Node& node = nest.nodes[item.id];
    if (node.kind != NodeKind::kLoad || (!avx512 && stored_bytes(node.type) < 4)) continue;
    int64_t along_outer = 0, along_lanes = 0;
    bool only_loops = true;
    for (const auto& term : node.affine.terms) {
      const Node& atom = nest.nodes[term.atom];
      only_loops = only_loops && atom.kind == NodeKind::kLoopIndex;
      if (atom.kind != NodeKind::kLoopIndex) continue;
      if (atom.loop == outer) along_outer = term.coefficient;
      if (atom.loop == lanes) along_lanes = term.coefficient;
    }
    if (only_loops && along_outer == 1 && std::llabs(along_lanes) > 1) tiling.loads.push_back(item.id);
  }
  constexpr size_t kMostLoads = 4;  // each needs a kilobyte or two of stack, and code
  if (tiling.loads.size() > kMostLoads) return {};
  tiling.side = kLeastSide;
  for (const NodeId load : tiling.loads) {
    const auto side = static_cast<int32_t>(kLine / stored_bytes(nest.nodes[load].type));
    if (avx512 && std::min(loop_at(lanes).extent, loop_at(outer).extent) >= side) {
      tiling.side = std::max(tiling.side, side);
    }
  }
  return tiling;
}

}  // namespace lowtide::engine
