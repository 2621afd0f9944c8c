#pragma once
/// Streams as decisions: around which value, along which of its dimensions, with how many slices per tile.
///
///     s = f32[4096,4096] dot(q, k)                      while i < 4096:  s = f32[64,4096] dot(q[i:i+64], k)
///     p = ... softmax of s along the last dimension  ==>                 p = ... softmax of s
///     y = f32[4096,128] dot(p, v)                                        y[i:i+64] = dot(p, v)
///     g = f32[4096,128] dot(p, dy) over rows                             g += dot(p, dy[i:i+64]) over rows
///
/// Saves bytes(s) + bytes(p) less a tile of each; costs kernel starts, operands that each tile reads whole, sums that
/// each tile reads and writes, and, if slices depend on a fold over all of them, another pass that recomputes them.
///
/// Requires: verified, no calls.  Keeps: roots, donation.  Breaks: schedule.
/// Numerics: reassociated where sums are folded tile by tile; else exact (a library's dot of a tile may sum in another
/// order than the dot of the whole). Where Module::sums_in_order, exact: nothing that folds a sum joins
/// (passes/stream/keep_order.h).
/// Along the dimension of a scatter's index, each tile takes the updates that lie in it, and skips the others. Results
/// that donated arguments become, and next values of a loop's carried ones, are written over those.
/// A loop whose state has the dimension (a batch) runs once for each tile: its stacks are a tile's stacks, and sums
/// over the dimension continue those of the previous tiles. Windows over the dimension make clusters of their own.
/// Tests: tests/text/passes/stream-slices/

#include <string>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace lowtide::engine {

struct StreamDecision {
  std::string computation, seed;  ///< names; the seed is an array, an element of a loop's result by its own name
  int64_t dimension = 0, tile = 0;
  bool one_pass = false;  ///< only members that need no second pass over the slices
  bool windows = false;   ///< slices read neighbouring slices (passes/windows/stream_windows.h)
  /// Only for the seed and what is computed from it: its operands are recomputed for it, tile by tile.
  bool alone = false;
  int32_t passes = 0;  ///< only so many passes over the slices, from the first that needs the seed on; 0: all
  /// Values for later passes are stored if that costs less than recomputing them, at a price in ns per byte that is
  /// live at the fullest pass (between_passes.h); 0: only values that others read are stored.
  double store = 0;
  /// Also for all values that do the same in other layers (stream_layers.h); not with windows.
  bool all_layers = false;
  bool operator==(const StreamDecision&) const = default;
};

/// One line:
/// `stream COMPUTATION SEED dimension=D tile=T [one_pass|alone|windows] [passes=N] [store=PRICE] [all-layers]`.
std::string to_text(const StreamDecision& decision);
Result<StreamDecision> parse_stream_decision(std::string_view line);

/// A stream that precedes another one.
struct StreamBefore {
  StreamDecision decision;
  std::vector<int64_t> tiles;  ///< descending
  double tiles_per_tile = 0;   ///< for equally large tiles: slices of this one per slice of the other
};

struct StreamCandidate {
  StreamDecision decision;  ///< with the largest of the tiles
  /// Products that the stream would sum tile by tile, in large accumulators that aren't the final result: each is
  /// computed first by a stream of its own, along its rows, which needs no accumulator.
  std::vector<StreamBefore> before;
  int64_t extent = 0;          ///< of the dimension
  std::vector<int64_t> tiles;  ///< sensible ones, descending
  double hidden_bytes = 0;     ///< stored whole before, now only in tiles
  double again_ns = 0;         ///< modelled time of recomputation
  double ns_per_tile = 0;      ///< modelled time that each tile adds

  /// The decisions, in this order, for a tile of this many slices.
  std::vector<StreamDecision> decisions(int64_t tile) const;
};

struct StreamCandidateOptions {
  double least_hidden_bytes = 64 << 10;
  bool in_all_layers = false;  ///< streams in one of several equal layers become streams of all
};

/// Which values have bytes of their own, and can be hidden by a stream, is decided by our regions or, if the target
/// takes modules, by XLA's fusion of elementwise loops (analysis/loop_fusion.h).

/// Candidates around stored values of the module, best first: most bytes hidden. Seeds that are no array, or not
/// stored, have none. No seeds: the largest stored values of each computation.
std::vector<StreamCandidate> stream_candidates(const Module& module, const Target& target,
                                               const std::vector<const Instruction*>& seeds,
                                               const StreamCandidateOptions& options = {});

/// The computation's value of this name; null if it has none.
Instruction* value_named(const Computation& computation, std::string_view name);

/// An error if there is no such value, or if it can't be streamed in this way.
Result<PassResult> stream(Module& module, const Target& target, const StreamDecision& decision);

/// Tiles for an extent, descending: divisors near powers of two, or powers of two.
std::vector<int64_t> tiles_of(int64_t extent, int64_t least);

/// The numerics of streams of this module.
Numerics stream_numerics(const Module& module);

}  // namespace lowtide::engine
