#pragma once
/// Moves transposes through elementwise work to where they cancel or cost nothing.
///
///     t = f32[n,m] transpose(x), dimensions={1,0}
///     e = f32[n,m] exponential(t)                         e = f32[m,n] exponential(x)
///     s = f32[n] reduce(e, 0), dimensions={1}        ==>  s = f32[n] reduce(e, 0), dimensions={0}
///     b = f32[n,m] broadcast(s), dimensions={0}           b = f32[m,n] broadcast(s), dimensions={1}
///     p = f32[n,m] divide(e, b)                           y = f32[m,n] divide(e, b)
///     y = f32[m,n] transpose(p), dimensions={1,0}
///
/// Saves no bytes by itself: kernels read past transposes. Afterwards a value of two orientations, such as the logits
/// of a loss over both rows and columns, can be streamed: all that is computed from it has a slice for each of its
/// slices.
///
/// Moved: transposes of an elementwise tree, and reductions of one, if each leaf is a transpose that cancels (at least
/// one is), or a broadcast or an iota, whose dimensions are permuted.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same operations on the same values, each sum in its order.
/// Not moved: trees of which others read values in the old orientation, which would be computed twice; reductions whose
/// results would have their dimensions in another order.
/// Tests: tests/text/passes/sink-transposes/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> sink_transposes(Module& module);

}  // namespace lowtide::engine
