#pragma once
/// Adds a part to an array in place, without first expanding the part with zeros: gradients of slices and gathers that
/// a backward loop accumulates.
///
///     z = f32[N,D] broadcast(0)                            s  = f32[1,D] dynamic-slice(a, i)
///     b = f32[N,D] dynamic-update-slice(z, u, i)    ==>    a' = f32[N,D] dynamic-update-slice(a, add(s, u), i)
///     a' = f32[N,D] add(a, b)
///
///     b = f32[N,D] scatter(z, ids, u), add          ==>    a' = f32[N,D] scatter(a, ids, u), add
///     a' = f32[N,D] add(a, b)
///
/// Saves bytes(b), and the time to traverse all of a: if this is a's last use, only the part is touched. Parts that
/// several updates put in the same place are added first and written once.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: reassociated where indices of a scatter repeat, value-exact otherwise (-0 + 0 stays -0); only the latter
/// if Module::sums_in_order.
/// Not rewritten: b with other readers; scatters with other computations than an addition; scatters of small floats:
/// added to the array one by one, tiny updates would vanish; pads, which are computed where they are added.
/// Tests: tests/text/passes/accumulate-where-it-lies/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> accumulate_where_it_lies(Module& module);

}  // namespace lowtide::engine
