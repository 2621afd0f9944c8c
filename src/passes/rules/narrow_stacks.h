#pragma once
/// Stores what a loop collects in the type that it was computed in, and widens it where it is read.
///
///     while (i, ys = 0):  ys[j] = f32 convert(y)          while (i, zs = 0):  zs[j] = y
///     z = sum(ys)                                    ==>  z = sum(f32 convert(zs))
///
/// Saves half of ys: gradients of weights that are products in bf16, collected over layers in f32.
///
/// A carry is narrowed where it starts with zeros, each trip puts a slice into it that a conversion to a wider type of
/// the same kind made, nobody else in the loop looks at it, and behind the loop elementwise work and reductions alone
/// read it, which widen it as they go.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: to widen what was narrow gives the same number before and behind a store.
/// Not narrowed: what is a result, or what products, loops or calls read.
/// Tests: tests/text/passes/narrow-stacks/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> narrow_stacks(Module& module);

}  // namespace lowtide::engine
