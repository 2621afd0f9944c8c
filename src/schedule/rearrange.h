#pragma once
/// A result with all elements of one operand in another order, transposed or reversed, made in place.

#include <optional>

#include "library/moves.h"
#include "nest/nest.h"

namespace lowtide::engine {

struct Rearrangement {
  std::vector<ArrayMove> moves;  ///< one after another
  int64_t scratch_bytes = 0;     ///< aligned to 64
  double sweeps() const;         ///< how often the whole array is read and written
};

/// The nest does nothing but write the elements of buffer `from` to buffer `to`, in another order. None if it does
/// more, or if scratch would be large.
std::optional<Rearrangement> plan_rearrangement(const Nest& nest, int32_t to, int32_t from);

}  // namespace lowtide::engine
