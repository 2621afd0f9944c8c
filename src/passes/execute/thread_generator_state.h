#pragma once
/// Hands the counter of the hidden generator from instruction to instruction, through loops, branches and calls.
///
///     c = u64[2] rng-get-and-update-state(), delta=3        c = u64[2] concatenate({n}, {0})
///     w = while(x), body={... rng-get-and-update-state  ==> w' = while((x, n + 3)), body={... ((y), n' + delta)}
///         ...}                                              w = get-tuple-element(w'), index=0
///
/// Whoever draws gets the counter beside its argument and gives it back beside its result. A loop's condition gives
/// nothing back: it draws the same number each time, so the body starts that much later.
///
/// Saves nothing by itself: after it values depend only on their operands, and may be moved, shared and recomputed.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Refuses (unsupported): draws in reducers, comparators and whatever else runs many times in no order; in a condition,
/// draws within its own loops, branches and calls.
/// Numerics: exact, by the definition in ops/rng.cpp.
/// Tests: tests/text/passes/thread-generator-state/, tests/text/eval/rng_*.hlo

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> thread_generator_state(Module& module);

}  // namespace lowtide::engine
