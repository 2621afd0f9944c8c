#include "nest/blocks.h"

namespace lowtide::engine {

bool stands_in(const Nest& nest, int32_t block, int32_t outer) {
  while (block != kNoId && block != outer) block = nest.blocks[static_cast<size_t>(block)].parent;
  return block == outer;
}

std::vector<int32_t> loops_around(const Nest& nest, int32_t block) {
  std::vector<int32_t> loops;
  for (; block != 0; block = nest.blocks[static_cast<size_t>(block)].parent) {
    loops.push_back(nest.blocks[static_cast<size_t>(block)].loop);
  }
  return loops;
}

std::optional<Int128> parallel_iterations(const Nest& nest, int32_t block) {
  Int128 times = 1;
  for (const int32_t id : loops_around(nest, block)) {
    const Loop& loop = nest.loops[static_cast<size_t>(id)];
    if (loop.kind != LoopKind::kParallel) return {};
    times *= loop.extent;
  }
  return times;
}

}  // namespace lowtide::engine
