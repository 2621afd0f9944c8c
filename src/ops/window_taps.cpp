#include "ops/window_taps.h"

#include "ops/folding.h"

namespace lowtide::engine {
namespace {

/// The predicate, or kNoId if it is known to hold.
NodeId unless_known(NestBuilder& nest, NodeId predicate) {
  return nest.known_integer(predicate) == 1 ? kNoId : predicate;
}

}  // namespace

WindowTap window_tap(NestBuilder& nest, const Window& window, size_t d, const Affine& position, const Affine& k,
                     int64_t base) {
  const int64_t dilate = window.lhs_dilate[d], last = (base - 1) * dilate;
  Affine at = nest.plus(nest.plus(nest.times(position, window.stride[d]), nest.times(k, window.rhs_dilate[d])),
                        NestBuilder::fixed(-window.pad_low[d]));
  WindowTap tap;
  tap.inside = unless_known(nest, nest.within(at, 0, last));
  at = nest.clamp(at, 0, last);
  if (dilate > 1) {
    const Affine hole = nest.remainder(at, dilate);
    tap.inside = both(nest, tap.inside, unless_known(nest, nest.within(hole, 0, 0)));
    at = nest.floor_divide(at, dilate);
  }
  tap.at = at;
  return tap;
}

}  // namespace lowtide::engine
