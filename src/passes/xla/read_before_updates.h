#pragma once
/// Says that slices of an array are read before it is updated, where nothing else does.
///
///     next = f32[66,N] dynamic-slice(a, j, 0)         next = f32[66,N] dynamic-slice(a, j, 0)
///     new = f32[66,N] f(window)                       t = (next, a) opt-barrier(next, a)
///     a' = dynamic-update-slice(a, new, i, 0)    ==>  new = f32[66,N] f(window)
///     -> (..., g(next), a')                           a' = dynamic-update-slice(t.1, new, i, 0)
///                                                     -> (..., g(t.0), a')
///
/// Saves bytes(a): XLA decides what to copy before it schedules, and copies an array that is updated in place if no
/// dependency orders a reader before the update. The readers of what a loop updates are those in its body (a window's
/// next rows) and those before it whose values it only carries, which XLA moves behind it (rows at the boundary). It
/// costs the slices' bytes: a slice behind a barrier is stored.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not tied: arrays of less than kSmallestUpdated (updated_slices.h); any other reader that isn't ordered, since XLA
/// copies then in any case; slices that together take more than 1/kSmallPartOfSlices of the array.
/// Tried: control predecessors: XLA drops them.
/// Tests: tests/text/passes/read-before-updates/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kSmallPartOfSlices = 4;

Result<PassResult> read_before_updates(Module& module);

}  // namespace lowtide::engine
