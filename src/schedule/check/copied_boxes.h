#pragma once
/// Stores that copy from another place of an operand in the same bytes: boxes of an array that move in it.

#include <compare>
#include <optional>

#include "schedule/check/in_place_proof.h"

namespace lowtide::engine {

/// Elements first + sum of stride * [0, extent) become those `ahead` elements after them.
struct CopiedBox {
  struct Axis {
    int64_t stride = 0, extent = 0;
    auto operator<=>(const Axis&) const = default;
  };
  int64_t first = 0, ahead = 0;
  std::vector<Axis> axes;  ///< once simplified: the longest stride first, mergeable axes merged
  bool operator==(const CopiedBox&) const = default;

  void simplify();
};

/// How often a store is executed, if only parallel loops determine that; each time to a different element, if the
/// kernel stores all of its result in this way.
std::optional<Int128> times_stored(const Touches& touches, const Touch& store);

/// The box that the store copies; none if it isn't a box.
std::optional<CopiedBox> copied_box(const PlacedKernel& kernel, const Touch& store);

}  // namespace lowtide::engine
