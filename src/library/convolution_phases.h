#pragma once
/// Splits a convolution into phases, so that it doesn't multiply the zeros between the elements of a dilated base: a
/// phase is all positions whose windows meet elements with the same taps, and is a convolution without base dilation.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/window.h"

namespace lowtide::engine {

/// Fewer spatial dimensions use the last indices, so that the last one is always kLast; those before have extent 1.
inline constexpr size_t kMostSpatial = 3, kLast = kMostSpatial - 1;
using SpatialIndex = std::array<int64_t, kMostSpatial>;

/// One spatial dimension of a phase: its positions, and the taps of its window that meet elements, both equally spaced.
/// Tap u at position q reads element first_element + q * per_position + u * per_tap, which is padding if the input has
/// no such element.
struct PhaseAxis {
  int64_t first_position = 0, position_step = 1, positions = 1;
  int64_t first_tap = 0, tap_step = 1, taps = 1;
  int64_t first_element = 0, per_position = 0, per_tap = 0;
};

struct Phase {
  std::array<PhaseAxis, kMostSpatial> axes;

  int64_t positions() const { return axes[0].positions * axes[1].positions * axes[2].positions; }
  int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  /// Converts a row-major index over the positions, or the taps, to one index for each dimension.
  SpatialIndex position_at(int64_t index) const;
  SpatialIndex tap_at(int64_t index) const;
};

/// All phases of a window with so many positions.
std::vector<Phase> phases_of(const Window& window, const SpatialIndex& positions);

}  // namespace lowtide::engine
