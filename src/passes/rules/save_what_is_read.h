#pragma once
/// Saves for a later loop what it reads, not what that is made from, where it is less.
///
///     while (i, ..):  ss[i] = state    hs[i] = h            while (i, ..):  m = select(first, state[k], h)
///     while (j, ..):  x = select(first, ss[j][k], hs[j])  ==>               ms[i] = m
///                     f(x)                                  while (j, ..):  f(ms[j])
///
/// Saves the bytes of all slices that an iteration saves, less those of the cheapest cut, times the trips: pipelines
/// that save the queue beside the stage's input, a wide value of which a narrow one, a slice, a sum or a sign is read.
///
/// Between the slices that a later loop takes at one place and what else it computes lie values made of these slices,
/// of constants and of what neither loop changes, by elementwise work, moves and reductions. The minimum cut through
/// them, by bytes, is what is saved; what lies before it is computed in the first loop, once, as it was before.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same operations on the same values.
/// Not cut: products of matrices, values that come through nested loops; stacks that are read otherwise as well stay,
///   and cost nothing.
/// Tests: tests/text/passes/save-what-is-read/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> save_what_is_read(Module& module);

}  // namespace lowtide::engine
