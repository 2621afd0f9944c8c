#pragma once
/// Updates arrays with a loop's stacked values in the iteration that computes each slice: an optimiser's step in the
/// backward loop.
///
///     while (i, g = 0, w):  g[i] = f(w[i])                  while (i, w, m):  d = f(w[i])
///     m' = f32[N,M] add(m, g)                        ==>                      n = m[i] + d
///     w' = f32[N,M] subtract(w, m')                                           m[i] = n,  w[i] = w[i] - n
///
/// Saves bytes(g), and the time to write and read it: a training step's gradients never exist all at once.
///
/// Each iteration writes one slice of the stack, all of them are written, and all readers of the stack after the loop
/// go through it slice by slice. Their other operands exist before the loop: steps that are scaled by the norm of all
/// gradients stay where they are. The results take the place of arrays of their shape that are read for the last time
/// there, donated arguments or values; results without such a place are stacked separately, at most half of the stack's
/// bytes.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule of what stays.
/// Numerics: exact; where sums over slices are taken as well, reassociated: not where Module::sums_in_order.
/// Not done by default: a loop whose iterations consume their results can't be repeated for several tiles of a batch,
/// so plans decide on it (`update-in-loops`).
/// Tests: tests/text/passes/update-where-it-is-made/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> update_where_it_is_made(Module& module, const Target& target);

}  // namespace lowtide::engine
