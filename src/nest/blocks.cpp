#include "nest/blocks.h"

#include <algorithm>

namespace lowtide::engine {

bool stands_in(const Nest& nest, int32_t block, int32_t outer) {
  while (block != kNoId && block != outer) block = nest.blocks[block].parent;
  return block == outer;
}

std::vector<int32_t> loops_around(const Nest& nest, int32_t block) {
  std::vector<int32_t> loops;
  for (; block != 0; block = nest.blocks[block].parent) {
    loops.push_back(nest.blocks[block].loop);
  }
  return loops;
}

std::optional<Int128> parallel_iterations(const Nest& nest, int32_t block) {
  Int128 times = 1;
  for (const int32_t id : loops_around(nest, block)) {
    const Loop& loop = nest.loops[id];
    if (loop.kind != LoopKind::kParallel) return {};
    times *= loop.extent;
  }
  return times;
}

void move_block(Nest& nest, int32_t from, int32_t into, const std::function<NodeId(NodeId)>& renamed) {
  const auto rename = [&](NodeId& id) { id = renamed(id); };
  const auto rename_in = [&](Affine& sum) {
    for (Affine::Term& term : sum.terms) rename(term.atom);
    std::ranges::sort(sum.terms, {}, &Affine::Term::atom);
  };
  for (Node& node : nest.nodes) {
    std::ranges::for_each(node.operands, rename);
    rename_in(node.affine);
    if (node.block == from) node.block = into;
  }
  for (Store& store : nest.stores) {
    rename(store.value);
    rename_in(store.index);
    if (store.block == from) store.block = into;
  }
  for (Loop& loop : nest.loops) {
    for (Carried& carried : loop.carried) rename(carried.initial), rename(carried.next);
  }
  for (Block& block : nest.blocks) {
    if (block.parent == from) block.parent = into;
  }
}

}  // namespace lowtide::engine
