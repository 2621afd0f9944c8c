#pragma once
/// Transpositions. Where the lanes of a loop read with a step, but a loop around it walks along what is read, both go
/// in tiles: a tile is read along memory, transposed in registers and kept on the stack. Its sides are a cache line of
/// the narrowest elements, where the loops are as long, so that no line is fetched or written in parts.

#include <cstdint>
#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

struct Tiling {
  std::vector<int32_t> chain;  ///< loops outside in: the one that walks along memory, ..., the one spread over lanes
  std::vector<NodeId> loads;   ///< those that go through a tile
  int32_t side = 0;            ///< of a tile: elements, a power of two
  bool is_some() const { return !loads.empty(); }
};

/// The tiling that starts at `outer`: a chain of parallel loops, each with nothing but values around the next, and
/// nothing inside of the last. No loads: there is none to be had.
Tiling find_tiling(const Nest& nest, int32_t outer, bool avx512);

}  // namespace lowtide::engine
