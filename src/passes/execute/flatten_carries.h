#pragma once
/// Takes bundles within the carry of a loop, or within what a branch is given and gives, apart.
///
///     w = while(((a, b), c))  ==>  w' = while((a, b, c))
///                                  w = ((w'.0, w'.1), w'.2)
///
/// Saves nothing by itself: what looks into loops finds one element per value.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Not flattened: computations that something else runs as well, bundles with shardings.
/// Numerics: exact.
/// Tests: tests/text/passes/flatten-carries/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> flatten_carries(Module& module);

}  // namespace lowtide::engine
