#pragma once
/// Passes each loop-invariant value to a loop only once: equal ones are merged.
///
///     w = all-gather(s)   w.again = all-gather(s)          w = all-gather(s)
///     l = while(..., w, w.again)                    ==>    l = while(..., w)
///
/// A value recomputed for a late reader (passes/recompute) may be read by one loop together with the original, if a
/// stream joins both readers: then both would be live at once. Common subexpressions are shared before plans diverge;
/// this pass comes after the streams, and merges nothing else, so that values that were recomputed in order to be freed
/// in between stay separate. Collectives are shared if all their attributes are the same.
///
/// Saves: the bytes of the second value, and the time to compute it.
/// Requires: verified, no calls.  Keeps: roots, donation.  Breaks: schedule.
/// Numerics: exact.
/// Left alone: loops not in plain form (LoopCarry), values with effects, tuples.
/// Tests: tests/text/passes/share-invariants/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> share_invariants(Module& module);

}  // namespace lowtide::engine
