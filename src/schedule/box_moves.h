#pragma once
/// A kernel that only moves boxes of its operand, run in place: rolls, shifts, exchanged halves.
///
///   y[0:1] = x[15:16]                 keep x[15:16] in scratch
///   y[1:16] = x[0:15]        ==>      move x[0:15] to [1:16], last first; put what was kept to [0:1]
///
/// A box that must be read before another one overwrites it goes first; if they wait for each other in a cycle, the
/// smallest is kept in scratch. Dimensions outside of all moves are blocks, processed one after another with the same
/// scratch. Two exchanged boxes that are too large to keep are rotated, without scratch.

#include <optional>
#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

/// Positions and sizes are in elements, within a block.
struct BoxMove {
  struct Axis {
    int64_t stride = 0, extent = 0;
  };
  std::vector<Axis> axes;  ///< the longest stride first; runs lie in them
  int64_t run = 1;         ///< contiguous elements
  int64_t to = 0, from = 0;
  int64_t kept = kNoId;  ///< byte offset in scratch of the copy kept first; kNoId: none is kept

  int64_t elements() const;
  int64_t span() const;  ///< from the first to past the last
};

struct BoxMoves {
  int64_t blocks = 1, block = 0;  ///< elements of each
  int64_t element_bytes = 0;
  std::vector<BoxMove> moves;  ///< in this order
  int64_t rotated = 0;         ///< element `rotated` of each block comes first, the others in order; no moves then
  std::vector<bool> runs;      ///< by piece of the kernel: does it compute something else, and run after the moves?
  int64_t scratch_bytes = 0;   ///< aligned to 64
};

/// Buffer `to`, which the nest writes, aliases buffer `from`, which it reads. None if the nest does more than move its
/// elements, or if scratch would be large.
std::optional<BoxMoves> plan_box_moves(const Nest& nest, int32_t to, int32_t from);

}  // namespace lowtide::engine
