#pragma once
/// Flattens nested tuples in a loop's carry, and in the operands and results of branches.
///
///     w = while(((a, b), c))  ==>  w' = while((a, b, c))
///                                  w = ((w'.0, w'.1), w'.2)
///
/// Saves nothing by itself: analyses of loops then find one element per value.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Not flattened: computations that something else runs as well, bundles with shardings.
/// Numerics: exact.
/// Tests: tests/text/passes/flatten-carries/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> flatten_carries(Module& module);

}  // namespace lowtide::engine
