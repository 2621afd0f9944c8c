#pragma once
/// Moves the computation of a value from before a loop, which only carries and reads it, into the loop.
///
///     m = f32[S,S] select(compare(iota, iota), 0, -inf)           while (i, x):
///     while (i, x, m):                                     ==>      m  = select(compare(iota, iota), 0, -inf)
///       x' = f(x, m)                                                x' = f(x, m)
///
/// Saves bytes(m) less the bytes of operands that nothing else keeps live: masks and biases, broadcasts, iotas and
/// random bits that a program, or its compiler, hoisted out of a loop. Inside they stay virtual, and of a stack with
/// one slice per iteration only the slice is computed.
///
/// Sunk are loop-invariant values that the condition doesn't read, from kSmallestSunk bytes on, and smaller integers
/// that a few operations compute from indices and constants, which other rules look for: such a value, and the
/// operations that compute it as long as they are elementwise or move elements, down to values of less than
/// 1/kSmallPart of its bytes, to arguments that the caller keeps or something after the loop reads, and to values that
/// the loop carries unchanged anyway. It must be profitable: computing the elements that an iteration reads costs less
/// than reading them, or less than kMostTime of the loop's modelled time.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not sunk: into bodies that several loops share; from loops whose result is used as a whole.
/// Tests: tests/text/passes/sink-hoisted-values/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kSmallestSunk = 1 << 16;
inline constexpr int64_t kSmallPart = 8;
inline constexpr double kMostTime = 0.03;

Result<PassResult> sink_hoisted_values(Module& module, const Target& target);

}  // namespace lowtide::engine
