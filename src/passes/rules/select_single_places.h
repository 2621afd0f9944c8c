#pragma once
/// Chooses, element by element, what a scatter puts into each line of a computed array, where it is one place a line.
///
///     y = f32[N,V] scatter(x, ids, u), add,                i = s32[N,V] iota(), iota_dimension=1
///       input_batching_dims={0}, inserted_window_dims={1}  e = compare(i, broadcast(ids))
///                                                     ==>  y = select(e, x + broadcast(u), x)
///
/// Saves bytes(x): a scatter writes into an array that is stored; a select is computed where it is read, and can be
/// made slice by slice along the lines as well as across them. That is what the label's part in a loss's gradient is.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact: places beyond the array are equal to no index, and are dropped as by the scatter.
/// Not rewritten: arrays that are stored in any case, which a scatter changes in place; arrays with other
/// readers; several places in a line.
/// Tests: tests/text/passes/select-single-places/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> select_single_places(Module& module);

}  // namespace lowtide::engine
