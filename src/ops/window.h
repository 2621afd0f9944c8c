#pragma once
/// Arithmetic of sliding windows: convolution, reduce-window, select-and-scatter.
/// Along one dimension: the base is dilated (lhs_dilate - 1 holes between elements), padded at both ends (negative
/// padding crops), and a window of `size` elements, rhs_dilate apart, steps over it by `stride`.

#include <cstdint>
#include <optional>

#include "ops/checks.h"

namespace lowtide::engine {

/// The extent after inserting dilate - 1 holes between elements.
inline int64_t dilated(int64_t extent, int64_t dilate) { return extent == 0 ? 0 : (extent - 1) * dilate + 1; }

/// The number of window positions along dimension d over a base of this extent; 0 if the window doesn't fit.
int64_t window_positions(const Window& window, size_t d, int64_t base);

/// Checks that the window has one dimension per extent of `bases`, size, stride and dilations >= 1, and fields small
/// enough for arithmetic without overflow.
Status check_window(const Instruction& instruction, const Window& window, const Dims& bases, int constraint);

/// The position of tap k of window position p along dimension d: an index of the undilated base, or nullopt for a hole
/// or padding.
inline std::optional<int64_t> base_index(const Window& window, size_t d, int64_t p, int64_t k, int64_t base) {
  const int64_t at = p * window.stride[d] + k * window.rhs_dilate[d] - window.pad_low[d];
  const int64_t dilate = window.lhs_dilate[d];
  if (at < 0 || at % dilate != 0 || at / dilate >= base) return std::nullopt;
  return at / dilate;
}

/// The taps of window position p along dimension d that fall on the dilated base: [first, last).
struct TapRange {
  int64_t first = 0, last = 0;
};
TapRange taps_on_base(const Window& window, size_t d, int64_t p, int64_t base);

/// The elements of an array of these extents that a window position covers, as row-major offsets in row-major order.
Dims taps_of(const Window& window, const Dims& position, const Dims& extents);

}  // namespace lowtide::engine
