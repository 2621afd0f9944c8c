#pragma once
/// Replaces a scatter with known indices by updates of boxes: `x.at[2:5].set(u)` is a scatter in JAX.
///
///     k = s32[3,1] {2, 3, 4}
///     y = f32[N,D] scatter(x, k, u), second     ==>     y = f32[N,D] dynamic-update-slice(x, u, 2, 0)
///
///     y = f32[N,D] scatter(x, k, u), add        ==>     s = f32[3,D] add(slice(x), u)
///                                                       y = f32[N,D] dynamic-update-slice(x, s, 2, 0)
///
///     k = s32[8,1] {0, 0, 1, 1, ...}
///     y = f32[4,D] scatter(0, k, u), add        ==>     y = f32[4,D] reduce(f32[4,2,D] reshape(u)), add
///
/// Exposes what a scatter hides: an update with constant places reads and writes known boxes, so that it can be done in
/// place even if others read x elsewhere; and saves the check of every index.
///
/// Known are indices computed from constants and iotas, with all windows inside of x, in at most kMostRuns rows of
/// adjacent windows, combined by one operation or none; equally many in a row may be added to the same zeros (the
/// gradient of nearest-neighbour upsampling). A single window need only be inside, wherever that is: a row selected by
/// a loop's counter.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Tests: tests/text/passes/update-known-scatters/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> update_known_scatters(Module& module);

}  // namespace lowtide::engine
