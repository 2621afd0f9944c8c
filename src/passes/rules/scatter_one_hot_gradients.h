#pragma once
/// Adds rows where they belong instead of multiplying them by the transpose of one-hot rows: the gradient of
/// passes/rules/gather_one_hot_products.h.
///
///     eq = pred[B,V] compare(broadcast(ids), iota), EQ          zeros = f32[V,D] broadcast(0)
///     hot = f32[B,V] convert(eq)                         ==>    g = f32[V,D] scatter(zeros, ids, u), add
///     g = f32[V,D] dot(hot, u), contracting B
///
/// Saves bytes(hot) = B V bytes(T) and B V D multiplications for B D additions.
///
/// `hot` may stand on either side, under masks, with a factor for each row (passes/rules/one_hot.h); batch dimensions
/// walk in step. Ids outside of the iota are dropped, as the product drops them. Sums of bf16 and f16 are made in f32
/// and rounded once, as the dot makes them. The sums are laid out row by row; a transpose puts D before V where the dot
/// did.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: reassociated (HLO leaves open in which order a dot adds), value-exact otherwise: the terms left out are
///   zero for finite u.
/// Not rewritten: one-hot operands with other dimensions that aren't contracted; fewer than kFewestScattered classes:
///   rows are added one after the other, which a library's dot of few classes outruns.
/// Tests: tests/text/passes/scatter-one-hot-gradients/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kFewestScattered = 32;

Result<PassResult> scatter_one_hot_gradients(Module& module);

}  // namespace lowtide::engine
