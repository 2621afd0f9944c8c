#pragma once
/// Transpositions. If the lanes of a loop read with a stride, but an outer loop runs along the contiguous dimension,
/// both are tiled: a tile is read contiguously, transposed in registers and kept on the stack. Its sides are a cache
/// line of the narrowest elements, if the loops are that long, so that no line is fetched or written partially.

#include <cstdint>
#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

struct Tiling {
  std::vector<int32_t> chain;  ///< outermost loop first: the one along contiguous memory, ..., the vectorised one
  std::vector<NodeId> loads;   ///< loads that go through a tile
  int32_t side = 0;            ///< of a tile: elements, a power of two
  bool is_some() const { return !loads.empty(); }
};

/// The tiling that starts at `outer`: a chain of parallel loops, each with only values besides the next loop, and no
/// loop inside the last. Without loads there is no tiling.
Tiling find_tiling(const Nest& nest, int32_t outer, bool avx512);

}  // namespace lowtide::engine
