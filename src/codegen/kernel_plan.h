#pragma once
/// Decisions about a nest before code generation: its pieces, and which loops are vectorised.

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/kernel.h"
#include "nest/nest.h"

namespace lowtide::engine {

/// Sums of products with at most this many terms are unrolled, and added in another order; longer ones stay a loop,
/// because reading rows of a matrix alternately is slower than one after the other.
inline constexpr int64_t kMostTermsWrittenOut = 8;

struct PiecePlan {
  /// Items of block 0, in order; the last is the piece's own loop unless `loop` is kNoId: then all of block 0 runs
  /// once.
  std::vector<Item> items;
  int32_t loop = kNoId;
  KernelPiece figures;
};

struct KernelPlan {
  std::vector<int32_t> lanes;  ///< per loop: how many iterations run in parallel lanes; 0: one after the other
  std::vector<int32_t> after;  ///< per loop: lanes in which what follows its reductions is computed; 0: row by row
  std::vector<bool> masked;    ///< per vectorised loop: all steps run under a mask, so that its body is emitted once
  std::vector<bool> tiled;     ///< per loop: a tiling starts there (codegen/tiling.h)
  std::vector<PiecePlan> pieces;
};

KernelPlan plan_without_lanes(const Nest& nest);
KernelPlan plan_kernel(const Nest& nest, bool avx512);

/// Per node: does it differ from lane to lane if `lane_loop` is vectorised? Only within the loop's body.
std::vector<bool> varying_nodes(const Nest& nest, int32_t lane_loop);

}  // namespace lowtide::engine
