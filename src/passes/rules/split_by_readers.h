#pragma once
/// Computes a product or convolution in the parts that its readers take.
///
///     g = f32[2,N,N,96] convolution(dy, k)                 g0 = f32[2,N,N,64] convolution(dy, k[..., 0:64])
///     a = f32[2,N,N,64] slice(g), slice={..., [0:64]}  ==> g1 = f32[2,N,N,32] convolution(dy, k[..., 64:96])
///     b = f32[2,N,N,32] slice(g), slice={..., [64:96]}
///
/// Saves what one part occupies while only the other is still needed: the gradient of a convolution of concatenated
/// features goes into two branches of a network, one of which is read at the end. Costs bytes(sliced k), and reading dy
/// once for each part.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact: each element is the same sum.
/// Not split: what has a reader other than slices, or readers that share elements; values below kLeastSplitBytes; parts
///   of fewer than kLeastPartExtent rows; operands whose slices would hold more than an eighth of the result.
/// Tests: tests/text/passes/split-by-readers/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> split_by_readers(Module& module);

}  // namespace lowtide::engine
