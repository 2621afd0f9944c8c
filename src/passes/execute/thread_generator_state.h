#pragma once
/// Threads the counter of the implicit generator through instructions, loops, branches and calls.
///
///     c = u64[2] rng-get-and-update-state(), delta=3        c = u64[2] concatenate({n}, {0})
///     w = while(x), body={... rng-get-and-update-state  ==> w' = while((x, n + 3)), body={... ((y), n' + delta)}
///         ...}                                              w = get-tuple-element(w'), index=0
///
/// Computations that draw numbers take the counter as an additional argument and return it as an additional result. A
/// loop's condition doesn't return it: it draws the same count each time, so the body starts that much later.
///
/// Saves nothing by itself: after it values depend only on their operands, and may be moved, shared and recomputed.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Refuses (unsupported): draws in reducers, comparators and other computations that run many times in no defined
/// order; in a condition, draws within its own loops, branches and calls.
/// Numerics: exact, by the definition in ops/rng.cpp.
/// Tests: tests/text/passes/thread-generator-state/, tests/text/eval/rng_*.hlo

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> thread_generator_state(Module& module);

}  // namespace lowtide::engine
