#pragma once
/// Turns a dimension along which a gather's or scatter's indices merely count into a batch dimension.
///
///     rows = s32[B,1] reshape(iota)                               ids = s32[B,1]
///     at = s32[B,2] concatenate(rows, ids), dimensions={1}   ==>  y = f32[B] gather(x, ids), start_index_map={1},
///     y = f32[B] gather(x, at), start_index_map={0,1},              collapsed_slice_dims={1},
///     operand_batching_dims={0},
///       collapsed_slice_dims={0,1}                                  start_indices_batching_dims={0}
///
/// Saves nothing by itself: selecting x[i, ids[i]] (the label's logit in a loss, a diagonal), and adding gradients
/// there, then process the rows of x one by one, so that x can be streamed instead of stored.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: the index is in bounds at every place, so that nothing is clamped or dropped for it.
/// Not rewritten: a dimension longer than what is counted, or counted from another number than 0; an index that counts
///   alone, which leaves no index vector.
/// Tests: tests/text/passes/batch-counted-indices/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> batch_counted_indices(Module& module);

}  // namespace lowtide::engine
