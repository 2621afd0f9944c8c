#pragma once
/// Saves the values that a later loop reads instead of those from which it computes them, if they are smaller.
///
///     while (i, ..):  ss[i] = state    hs[i] = h            while (i, ..):  m = select(first, state[k], h)
///     while (j, ..):  x = select(first, ss[j][k], hs[j])  ==>               ms[i] = m
///                     f(x)                                  while (j, ..):  f(ms[j])
///
/// Saves the bytes of all slices that an iteration saves, less those of the cheapest cut, times the trip count: in
/// pipelines that save the queue as well as the stage's input, or a wide value of which only a narrow one, a slice, a
/// sum or a sign is read.
///
/// From the slices that a later loop reads at one place it computes further values, with constants and invariants of
/// both loops, by elementwise work, moves and reductions. The minimum cut through these, by bytes, is what is saved;
/// everything before the cut is computed in the first loop, once, as before.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same operations on the same values.
/// Not cut: products of matrices, values that come through nested loops; stacks that have other readers stay, and cost
/// nothing.
/// Tests: tests/text/passes/save-what-is-read/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> save_what_is_read(Module& module);

}  // namespace lowtide::engine
