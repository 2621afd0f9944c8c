#pragma once
/// Computes with the dimensions that a program merged, where it only merges them to split them again.
///
///     flat = f32[32,8] reshape(x)               x = f32[4,8,8]
///     y = f32[32,16] dot(flat, w)          ==>  y = f32[4,8,16] dot(x, w)
///     r = f32[4,8,16] reshape(y)                r = y
///
/// Saves nothing by itself: a batch that was merged with positions (x.reshape(-1, d) in front of a dense layer, a loss
/// over all tokens, experts' tokens) is a dimension of its own again, along which values can be streamed.
///
/// Dimensions that correspond, through elementwise operations, products, reductions, gathers, carries of loops and
/// their stacks, form a class. A class is split as most of the reshapes at its borders say, if more reshapes of
/// computed arrays vanish than are added where it meets operations whose dimensions can't be split, parameters and
/// results.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same elements, summed in the same order.
/// Not rewritten: features of weights (dimensions that a matrix among the parameters has), arguments and results of
///   branches and calls, bounded dimensions, values with a sharding.
/// Tests: tests/text/passes/split-merged-dimensions/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> split_merged_dimensions(Module& module);

}  // namespace lowtide::engine
