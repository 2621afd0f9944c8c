#pragma once
/// Reduces a loop's stacked values in the iteration that computes each slice, so that the stack never exists.
///
///     while (i, ys = 0):  ys[i] = y                      while (i, s = 0):  s[i] = sum(y * y)
///     z = f32[N,M] multiply(ys, ys)                ==>
///     s = f32[N] reduce(z, 0), dimensions={1}
///
///     m = f32[M] reduce(ys, 0), dimensions={0}     ==>   while (i, m = 0):  m = m + y
///
/// Saves bytes(ys), and the time to write and read it.
///
/// Each iteration writes one slice of the stack, all of them are written, and all readers of the stack after the loop
/// go through it slice by slice and reduce it to at most a quarter of its bytes. Their other operands exist before the
/// loop, or are computed from the same slices. Sums over all slices are loop-carried.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule of what stays.
/// Numerics: exact where the slices themselves are reduced, or extremes, integers and logic over all of them;
/// reassociated where floats are summed over the slices: not where Module::sums_in_order.
/// Not rewritten: stacks that are needed as a whole; products of two dimensions folded over the slices, which are
/// better computed all at once; sums of small floats over the slices, which would be rounded in each iteration; slices
/// so small that starting the work in each iteration costs more than the stack.
/// Tests: tests/text/passes/reduce-where-it-is-made/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> reduce_where_it_is_made(Module& module, const Target& target);

}  // namespace lowtide::engine
