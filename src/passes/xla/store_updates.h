#pragma once
/// Stores what is written over an array where slices of the array that it is computed from would take more.
///
///     s = f32[N-2] add(slice(a, 0), slice(a, 2))        s = f32[N-2] add(slice(a, 0), slice(a, 2))
///     a' = dynamic-update-slice(a, s, 1)          ==>   t = (f32[N-2]) opt-barrier((s))
///                                                       a' = dynamic-update-slice(a, t.0, 1)
///
/// Saves the slices' bytes less those of s: XLA:CPU fuses an update with what computes it, and leaves slices at other
/// places out of that kernel, since it couldn't write in place: it stores each of them. Other compilers store s.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not stored: what is computed from arrays that are stored in any case (loop_fusion.h); small arrays.
/// Tests: tests/text/passes/store-updates/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> store_updates(Module& module);

}  // namespace lowtide::engine
