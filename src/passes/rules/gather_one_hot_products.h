#pragma once
/// Takes rows out of a table instead of multiplying the table by one-hot rows.
///
///     eq = pred[B,V] compare(broadcast(ids), iota), EQ          rows = f32[B,D] gather(table, ids)
///     hot = f32[B,V] convert(eq)                         ==>    inside = pred[B] 0 <= ids and ids < V
///     y = f32[B,D] dot(hot, table), contracting V               y = f32[B,D] select(inside, rows, 0)
///
/// Saves bytes(hot) = B V bytes(T), the library's packed copy of the table, and B V D multiplications for B D reads; a
/// table that is converted first is converted where it is read.
///
/// `hot` may be either operand, with masks, with a factor for each row (the gates of experts), between any reshapes and
/// transposes (passes/rules/one_hot.h); batch dimensions are kept. Ids outside of the iota give zero rows, as in the
/// product.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: value-exact: one product of a sum is not zero, and it is exact or rounds once. A product with infinities
///   or NaNs in other rows of the table would have been NaN; -0 stays -0.
/// Not rewritten: more than one contracting dimension; reductions over a select or a product with one-hot rows: they
/// stream with their neighbours, whereas a gather would read outside of the tile.
/// Tests: tests/text/passes/gather-one-hot-products/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> gather_one_hot_products(Module& module);

}  // namespace lowtide::engine
