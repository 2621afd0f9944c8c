#pragma once
/// Stores a loop's stacked values in the type in which they were computed, and widens them where they are read.
///
///     while (i, ys = 0):  ys[j] = f32 convert(y)          while (i, zs = 0):  zs[j] = y
///     z = sum(ys)                                    ==>  z = sum(f32 convert(zs))
///
/// Saves half of ys: gradients of weights that are products in bf16, collected over layers in f32.
///
/// A loop-carried value is narrowed if it starts with zeros, each iteration puts a slice into it that was converted to
/// a wider type of the same kind, it has no other readers in the loop, and after the loop only elementwise operations
/// and reductions read it, which widen it on the fly.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: widening gives the same number before and after a store.
/// Not narrowed: results, and what products, loops or calls read.
/// Tests: tests/text/passes/narrow-stacks/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> narrow_stacks(Module& module);

}  // namespace lowtide::engine
