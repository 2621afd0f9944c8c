#pragma once
/// A kernel whose results lie over operands that other iterations still read: shifts, rolls, stencils.
///
/// It runs along the result, tile by tile. A tile's elements go to scratch, and from there to their place once nothing
/// reads there any more: `delay` elements later, in place of what was read before. The first `head` elements are kept
/// until the end, as the last tiles may read what they replace (a roll's last rows read the first ones).
///
///   result   |head |written back        |delay|tile |             tile after tile ->
///   scratch  |head |                    |delay|tile |spill|

#include <optional>
#include <span>

#include "nest/nest.h"
#include "schedule/box_moves.h"
#include "target/in_place_ways.h"

namespace lowtide::engine {

struct StripPiece {
  enum Kind : uint8_t {
    kFirst,  ///< computes none of these results: runs before all others
    kPatch,  ///< one iteration, single elements at any place: computed before the others, written at the end
    kSweep,  ///< iteration i writes elements from stride * i + first on
  };
  Kind kind = kFirst;
  int64_t extent = 0, stride = 0, first = 0;
  int64_t granule = 1;  ///< of kSweep: a call may begin at each multiple of it
};

/// Positions and sizes are in elements; all these results have the same number of elements.
struct Strips {
  struct Output {
    int32_t number = 0;  ///< of the kernel's outputs
    int64_t element_bytes = 0;
    int64_t head = 0, window = 0;  ///< in scratch, bytes
  };
  struct Patch {
    int32_t piece = 0, output = 0;  ///< of `outputs`
    int64_t element = 0;
  };
  int64_t elements = 0;
  int64_t phase = 0, tile = 0;  ///< tiles end at phase + k * tile; phase < tile
  int64_t delay = 0, head = 0;
  int64_t spill = 0;               ///< the most elements written beyond a tile's end
  std::vector<StripPiece> pieces;  ///< as Kernel::pieces
  std::vector<Output> outputs;
  std::vector<Patch> patches;
  std::optional<BoxMoves> moves;  ///< instead of tiles: boxes move, then the other pieces run; nothing else is set
  int64_t patch = 0;              ///< where scratch keeps two elements per patch, kPatchBytes each
  int64_t scratch_bytes = 0;      ///< aligned to 64
};
inline constexpr int64_t kPatchBytes = 16;

/// Calls of a piece begin at multiples of at most this number; a power of two, as every KernelPiece::granule is.
inline constexpr int64_t kMostGranule = 128;

/// In strips, pieces whose iterations compute rows, or single elements as far apart as rows, run row by row, so that
/// tiles may end after any row; this marks them for the code generator.
void run_rows_one_by_one(Nest& nest);

/// Buffer `to`, which the nest writes, aliases buffer `from`, which it reads: both have the same number of elements of
/// the same size.
struct LiesOver {
  int32_t to = kNoId, from = kNoId;
};

inline constexpr size_t kMostStripOutputs = 8;

/// None if it can't be done, or if scratch would be large. `inputs`: buffers before the first output.
std::optional<Strips> plan_strips(const Nest& nest, int32_t inputs, std::span<const LiesOver> over,
                                  const StripLimits& limits);

}  // namespace lowtide::engine
