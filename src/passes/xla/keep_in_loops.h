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
/// On XLA:CPU slices and gathered rows of invariant bf16 and 8-bit floats are tied as well: it converts what it
/// computes with to f32, the whole array before a slice, and hoists that: twice the array's bytes (four times those of
/// 8 bits). Tied, the conversion is part of the loop over the slice's elements.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not tied: values smaller than kSmallestTied; masks that are made of indices alone and take less than
/// 1/kSmallPartOfMasks of what the loop carries: computed in the loop they can cost as much (two fields of a small
/// ocean model on a GPU); loops with an unknown counter.
/// Tried: a barrier around m itself: it is moved with its operands.
/// Tests: tests/text/passes/keep-in-loops/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kSmallestTied = 1 << 16;  ///< bytes
inline constexpr int64_t kSmallPartOfMasks = 4;    ///< of what the loop carries

Result<PassResult> keep_in_loops(Module& module, const Target& target);

}  // namespace lowtide::engine
