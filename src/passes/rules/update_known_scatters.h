#pragma once
/// Updates boxes where a scatter's indices are known: `x.at[2:5].set(u)` is a scatter in JAX.
///
///     k = s32[3,1] {2, 3, 4}
///     y = f32[N,D] scatter(x, k, u), second     ==>     y = f32[N,D] dynamic-update-slice(x, u, 2, 0)
///
///     y = f32[N,D] scatter(x, k, u), add        ==>     s = f32[3,D] add(slice(x), u)
///                                                       y = f32[N,D] dynamic-update-slice(x, s, 2, 0)
///
/// Saves what a scatter hides: an update with constant places reads and writes known boxes, so that it is made where x
/// lies beside others that read elsewhere; and the check of every index.
///
/// Known are indices made of constants and iotas, all windows inside of x, in at most kMostRuns rows of neighbours, one
/// after another, combined by one operation or none. Of a single window it is enough that its place is inside, wherever
/// that is: a row that a loop's counter chooses.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Tests: tests/text/passes/update-known-scatters/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> update_known_scatters(Module& module);

}  // namespace lowtide::engine
