#pragma once
/// What a convolution multiplies, without what it would multiply by nothing: where the base is dilated, positions whose
/// windows meet its elements with the same taps are a phase, and a convolution of their own in which no hole is left.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/window.h"

namespace lowtide::engine {

/// Fewer spatial dimensions are the last of as many, so that the last one always is kLast; those before have extent 1.
inline constexpr size_t kMostSpatial = 3, kLast = kMostSpatial - 1;
using SpatialIndex = std::array<int64_t, kMostSpatial>;

/// One spatial dimension of a phase: its positions, and those taps of its window that meet elements, each equally
/// spaced. SpatialIndex q's tap u reads element first_element + q * per_position + u * per_tap, which is padding where
/// the input has no such element.
struct PhaseAxis {
  int64_t first_position = 0, position_step = 1, positions = 1;
  int64_t first_tap = 0, tap_step = 1, taps = 1;
  int64_t first_element = 0, per_position = 0, per_tap = 0;
};

struct Phase {
  std::array<PhaseAxis, kMostSpatial> axes;

  int64_t positions() const { return axes[0].positions * axes[1].positions * axes[2].positions; }
  int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  /// Row-major index over the positions, or the taps, -> one index for each dimension.
  SpatialIndex position_at(int64_t index) const;
  SpatialIndex tap_at(int64_t index) const;
};

/// All phases of a window that has as many positions.
std::vector<Phase> phases_of(const Window& window, const SpatialIndex& positions);

}  // namespace lowtide::engine
