#pragma once
/// Scatters rows instead of multiplying them by the transpose of one-hot rows: the gradient of
/// passes/rules/gather_one_hot_products.h.
///
///     eq = pred[B,V] compare(broadcast(ids), iota), EQ          zeros = f32[V,D] broadcast(0)
///     hot = f32[B,V] convert(eq)                         ==>    g = f32[V,D] scatter(zeros, ids, u), add
///     g = f32[V,D] dot(hot, u), contracting B
///
/// Saves bytes(hot) = B V bytes(T) and B V D multiplications for B D additions.
///
/// `hot` may be either operand, with masks, with a factor for each row (passes/rules/one_hot.h); batch dimensions are
/// kept. Ids outside of the iota are dropped, as the product drops them. Sums of bf16 and f16 are computed in f32 and
/// rounded once, as in the dot. The sums are laid out row by row; a transpose puts D before V where the dot did.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: reassociated (HLO leaves open in which order a dot adds), value-exact otherwise: the terms left out are
///   zero for finite u.
/// Not rewritten: one-hot operands with other dimensions that aren't contracted; fewer than kFewestScattered classes:
///   rows are added one after the other, and a library's dot with few classes is faster.
/// Tests: tests/text/passes/scatter-one-hot-gradients/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kFewestScattered = 32;

Result<PassResult> scatter_one_hot_gradients(Module& module);

}  // namespace lowtide::engine
