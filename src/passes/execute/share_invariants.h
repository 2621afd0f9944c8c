#pragma once
/// Hands a loop each value once: of equal ones that no iteration changes, one is kept.
///
///     w = all-gather(s)   w.again = all-gather(s)          w = all-gather(s)
///     l = while(..., w, w.again)                    ==>    l = while(..., w)
///
/// What is recomputed for a late reader (passes/recompute) may be read by one loop together with what was made first,
/// where a stream joins both readers: then both would be alive at once. Values are shared as common subexpressions
/// before plans part; this row stands after the streams, and looks at nothing else, so that what was recomputed to be
/// gone in between stays so. Collectives are shared where all their attributes are the same.
///
/// Saves: the bytes of the second value, and the time to make it.
/// Requires: verified, no calls.  Keeps: roots, donation.  Breaks: schedule.
/// Numerics: exact.
/// Left alone: loops whose carry isn't plain (LoopCarry), values with effects, bundles.
/// Tests: tests/text/passes/share-invariants/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> share_invariants(Module& module);

}  // namespace lowtide::engine
