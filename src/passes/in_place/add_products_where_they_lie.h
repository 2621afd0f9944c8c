#pragma once
/// Accumulates matrix products into a sum in place, instead of in a separate array.
///
///     p = f32[32000,512] dot(x, g)                       s' = f32[32000,512] dot(x, g, s)
///     s' = f32[32000,512] add(s, p)            ==>
///
/// Saves bytes(p), and the time to write and read it: in a loop over tiles, once for each tile.
///
/// Requires: verified.  Keeps: roots, donation, schedule.  Breaks: dots have two operands.
/// Numerics: reassociated (a library may begin its sums with s).
/// Not done if s is cheap to recompute, or if a kernel computes the dot: that adds without storing in any case.
/// Tests: tests/text/passes/add-products-where-they-lie/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> add_products_where_they_lie(Module& module, const Target& target);

}  // namespace lowtide::engine
