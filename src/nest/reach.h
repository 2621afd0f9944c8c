#pragma once
/// The elements that a loop's iterations access.

#include <algorithm>

#include "base/int128.h"
#include "nest/nest.h"

namespace lowtide::engine {

/// Elements step * i + [least, greatest] in iteration i.
struct Reach {
  Int128 step = 0, least = 0, greatest = 0;

  /// Extends the reach to that of another access with the same step.
  void include(const Reach& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
};

/// The reach while `index`, a loop's, runs through its iterations; kNoId: within the bounds of everything the element
/// depends on.
Reach reach_of(const Nest& nest, const Affine& element, NodeId index);

}  // namespace lowtide::engine
