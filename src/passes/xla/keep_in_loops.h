#pragma once
/// Ties loop-invariant computations to the loop that reads them, so that a compiler doesn't hoist them.
///
///     body: (i, x, w)                               body: (i, x, w)
///       m = f32[S,S] exponential(w)                   t = (i, w) opt-barrier(i, w)
///       x' = f(x, m)                         ==>      m = f32[S,S] exponential(t.1)
///       -> (i + 1, x', w)                             x' = f(x, m)
///                                                     -> (i + 1, x', w)
///
/// Saves bytes(m) during the loop: XLA's loop-invariant code motion hoists whatever depends only on invariant elements,
/// regardless of its size. Through the barrier it depends on the counter.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not tied: loops in which nothing large is computed from invariants; values smaller than kSmallestTied; loops with an
/// unknown counter.
/// Tried: a barrier around m itself: it is moved with its operands.
/// Tests: tests/text/passes/keep-in-loops/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kSmallestTied = 1 << 16;  ///< bytes

Result<PassResult> keep_in_loops(Module& module);

}  // namespace lowtide::engine
