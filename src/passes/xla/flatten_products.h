#pragma once
/// Stores what a loop made, or what is transposed, in the order in which a product reads it, where XLA's GPU compiler
/// can't read it otherwise.
///
///     x = bf16[64,196,12,64] get-tuple-element(loop)      x = bf16[64,196,12,64] get-tuple-element(loop)
///     r = bf16[64,196,768] reshape(x)                     f = bf16[12544,768] reshape(x)
///     y = bf16[64,196,N] dot(r, w)                 ==>    b = (f) opt-barrier(f)
///                                                         d = bf16[12544,N] dot(b.0, w)
///                                                         y = bf16[64,196,N] reshape(d)
///
/// A stream over heads makes the loop's array in the order of its slices; as with a transposed array, bringing it to
/// rows becomes part of the product's kernel, for whose tiles the compiler finds no size unless the innermost of the
/// merged dimensions is a multiple of 16 ("Couldn't find output tile sizes"): a ViT of 196 patches didn't compile. It
/// costs the matrix.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same products and sums.
/// Not flattened: other matrices, products with batch dimensions, and operands whose contracted dimensions are
/// neither the first nor the last ones. Tried: a barrier around r, whose order follows the loop's. Tests:
/// tests/text/passes/flatten-products/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kTileMultiple = 16;

Result<PassResult> flatten_products(Module& module, const Target& target);

}  // namespace lowtide::engine
