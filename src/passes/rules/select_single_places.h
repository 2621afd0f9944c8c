#pragma once
/// Replaces a scatter into one place of each line of a computed array by an elementwise select.
///
///     y = f32[N,V] scatter(x, ids, u), add,                i = s32[N,V] iota(), iota_dimension=1
///       input_batching_dims={0}, inserted_window_dims={1}  e = compare(i, broadcast(ids))
///                                                     ==>  y = select(e, x + broadcast(u), x)
///
/// Saves bytes(x): a scatter writes into an array that is stored; a select is computed where it is read, and can be
/// computed slice by slice along the lines as well as across them. The label's part in a loss's gradient has this form.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact: places beyond the array are equal to no index, and are dropped as by the scatter.
/// Not rewritten: arrays that are stored in any case, which a scatter updates in place; arrays with other readers;
/// several places in a line.
/// Tests: tests/text/passes/select-single-places/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> select_single_places(Module& module);

}  // namespace lowtide::engine
