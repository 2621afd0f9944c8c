#pragma once
/// The elements that a nest reads and writes, and whether two of its buffers may alias.

#include <optional>

#include "nest/nest.h"

namespace lowtide::engine {

/// One load or store of the nest.
struct Access {
  int32_t buffer = kNoId;
  bool is_store = false;
  /// The loop in block 0 around it; kNoId: in block 0 itself, so a part of every piece. A load there that only one
  /// piece of one iteration needs belongs to that piece.
  int32_t piece = kNoId;
  int32_t outermost = kNoId;  ///< the loop in block 0 around it, of any kind
  Affine element;
  int64_t least = 0, greatest = 0;  ///< bounds of `element`, both inclusive
  int32_t order = 0;                ///< of execution, within an iteration of the loops around it
  NodeId value = kNoId;             ///< of a store
  int32_t block = 0;                ///< that contains it
};

/// In the order of execution.
std::vector<Access> accesses(const Nest& nest);

/// May buffer `to`, which the nest writes, alias buffer `from`, which it reads? Only if no element is written before
/// its last read, whatever the order of iterations: it is read only by the iteration that writes it, or by an earlier
/// piece, or the elements differ, or the value written is the one that was read there. The elements of both have the
/// same size.
bool may_lie_over(const Nest& nest, int32_t to, int32_t from);

/// Pieces, numbered as Kernel::pieces, that only copy elements of `from` to the same elements of `to`: if both alias,
/// they have nothing to do.
std::vector<int32_t> idle_pieces(const Nest& nest, int32_t to, int32_t from);

}  // namespace lowtide::engine
