#include "library/convolution_phases.h"

#include <algorithm>
#include <numeric>

namespace lowtide::engine {
namespace {

/// Positions first, first + step, ... of dimension d.
PhaseAxis axis_of(const Window& window, size_t d, int64_t positions, int64_t first, int64_t step) {
  const int64_t dilate = window.lhs_dilate[d], between_taps = window.rhs_dilate[d];
  PhaseAxis axis{.first_position = first, .position_step = step};
  axis.positions = (positions - first + step - 1) / step;
  axis.tap_step = dilate / std::gcd(between_taps, dilate);
  const int64_t origin = first * window.stride[d] - window.pad_low[d];
  const auto meets = [&](int64_t tap) { return (origin + tap * between_taps) % dilate == 0; };
  while (axis.first_tap < std::min(axis.tap_step, window.size[d]) && !meets(axis.first_tap)) ++axis.first_tap;
  const bool any = axis.first_tap < std::min(axis.tap_step, window.size[d]);
  axis.taps = any ? (window.size[d] - axis.first_tap + axis.tap_step - 1) / axis.tap_step : 0;
  axis.first_element = any ? (origin + axis.first_tap * between_taps) / dilate : 0;
  axis.per_position = step * window.stride[d] / dilate;
  axis.per_tap = axis.tap_step * between_taps / dilate;
  return axis;
}

SpatialIndex digits(int64_t index, const SpatialIndex& extents) {
  SpatialIndex digits{};
  for (size_t d = kMostSpatial; d-- > 1; index /= extents[d]) digits[d] = index % extents[d];
  digits[0] = index;
  return digits;
}

}  // namespace

SpatialIndex Phase::position_at(int64_t index) const {
  return digits(index, {axes[0].positions, axes[1].positions, axes[2].positions});
}

SpatialIndex Phase::tap_at(int64_t index) const { return digits(index, {axes[0].taps, axes[1].taps, axes[2].taps}); }

std::vector<Phase> phases_of(const Window& window, const SpatialIndex& positions) {
  std::vector<Phase> phases(1);
  const size_t before = kMostSpatial - window.size.size();
  for (size_t d = 0; d < window.size.size(); ++d) {
    const int64_t step = window.lhs_dilate[d] / std::gcd(window.stride[d], window.lhs_dilate[d]);
    std::vector<Phase> split;
    for (const Phase& phase : phases) {
      for (int64_t first = 0; first < std::min(step, positions[before + d]); ++first) {
        split.push_back(phase);
        split.back().axes[before + d] = axis_of(window, d, positions[before + d], first, step);
      }
    }
    phases = std::move(split);
  }
  return phases;
}

}  // namespace lowtide::engine
