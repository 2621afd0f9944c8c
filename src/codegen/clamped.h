#pragma once
/// Clamped indices: element clamp(linear) of a buffer. Most steps of a lane loop are within the bounds and could load
/// contiguously.

#include <optional>

#include "nest/nest.h"

namespace lowtide::engine {

struct ClampedIndex {
  NodeId linear = kNoId;  ///< of kind kAffine or kLoopIndex; the clamps change nothing while least <= it <= greatest
  int64_t least = INT64_MIN, greatest = INT64_MAX;
  int64_t coefficient = 1;  ///< of the clamped value in the index
  Affine rest;              ///< the other terms, the same in all lanes
  int64_t step = 0;         ///< of the index from lane to lane, inside the bounds
};

/// A load's index in this form, with a step of 1 or -1 when `lane_loop` is vectorised; none if it isn't.
std::optional<ClampedIndex> clamped_index(const Nest& nest, const Affine& index, int32_t lane_loop,
                                          const std::vector<bool>& varying);

}  // namespace lowtide::engine
