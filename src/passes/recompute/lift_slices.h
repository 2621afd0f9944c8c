#pragma once
/// Takes slices of an outer loop's stacks out of the inner loops in which they are loop-invariant.
///
///     while (i, s, ..):                                    while (i, s, ..):
///       while (j, s, i, ..):                      ==>        g = dynamic-slice(s, i)
///         g = dynamic-slice(s, i)                            while (j, g, ..):
///         .. dynamic-slice(g, j) ..                            .. dynamic-slice(g, j) ..
///
/// Undoes what `sink-hoisted-values` did to save the copy of the group. The slices that an iteration of the outer loop
/// reads are then one value, which `recompute` can keep or recompute as a whole: as in a time-stepping loop with two
/// levels. Slices that are still stored are sunk again after streaming.
///
/// Requires: verified, no calls.  Keeps: roots, donation.
/// Numerics: exact.
/// Not lifted: stacks that the inner loop also reads otherwise.
/// Tests: tests/text/passes/recompute/nested_loops.hlo

#include "ir/module.h"

namespace lowtide::engine {

/// Was any lifted?
bool lift_slices(Module& module);

}  // namespace lowtide::engine
