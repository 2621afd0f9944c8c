#pragma once
/// Lets a loop write its stacked results over the stacked operand that it consumes: `scan` with xs -> ys.
///
///     ys = broadcast(0)                              (xs: donated, or created only for this loop)
///     while (i, ys, xs):                       ==>   while (i, ys = xs):
///       x = xs[i]; ys' = update(ys, f(x), i)           x = ys[i]; ys' = update(ys, f(x), i)
///
/// Saves bytes(ys): a key-value cache that a decoder's layers update slice by slice stays where it is.
///
/// Requires: verified, no calls, loops take tuples apart once.  Keeps: roots, donation, schedule.
/// Numerics: exact. The loop visits all slices (along any dimension, of any thickness), each once; slice i is read only
/// in iteration i, which reads the bytes from before the iteration.
/// xs may be read before the loop, by values that the loop needs.
/// Not done: xs that is read otherwise, bodies of several loops, arguments that are not donated
/// (their copy would be as large).
/// Tests: tests/text/passes/write-over-consumed-stacks/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> write_over_consumed_stacks(Module& module);

}  // namespace lowtide::engine
