#pragma once
/// Moves the computation of loop-invariant values before the loop, if it takes long.
///
///     while (i, x, e):                                    k = f32[B,L,D] dot(e, w)
///       k  = f32[B,L,D] dot(e, w)                ==>      while (i, x, e, k):
///       x' = f(x, k)                                        x' = f(x, k)
///
/// Saves the time of all iterations but one, for bytes(k) more while the loop runs: the keys and values of an encoder's
/// output, in a loop that decodes; the factors of a matrix, in a loop that solves with it.
///
/// Invariant are values without side effects that are computed from constants and from what every iteration passes on
/// unchanged. Hoisted are those that take kHoistedFactor times as long to compute, from what is hoisted already, as to
/// read: products, reductions, decompositions and the like wherever they stand, elementwise values only where something
/// that varies reads them, so that a chain of elementwise operations is carried at its end or not at all. A loop is
/// left alone if all this takes less than kLeastHoisted of its body's modelled time.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not done by default: what is hoisted is stored, so plans decide on it (`hoist-loop-invariants`).
/// Not hoisted: out of bodies that several loops share; out of branches of conditionals, which may not be taken.
/// Tests: tests/text/passes/hoist-loop-invariants/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr double kHoistedFactor = 2;
inline constexpr double kLeastHoisted = 0.03;

Result<PassResult> hoist_loop_invariants(Module& module, const Target& target);

}  // namespace lowtide::engine
