#pragma once
/// Taps of a sliding window (ops/window.h) as index arithmetic of nests.

#include "ops/element.h"

namespace lowtide::engine {

/// The position of a tap along one dimension: an index inside the undilated base, and a predicate that is true if the
/// tap is on an element, not on padding or in a hole; kNoId: it always is.
struct WindowTap {
  Affine at;
  NodeId inside = kNoId;
};

/// Tap `k` of window position `position` along dimension d, over a base of `base` >= 1 elements.
WindowTap window_tap(NestBuilder& nest, const Window& window, size_t d, const Affine& position, const Affine& k,
                     int64_t base);

}  // namespace lowtide::engine
