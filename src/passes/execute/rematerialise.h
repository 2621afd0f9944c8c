#pragma once
/// Recomputes a stored value for readers long after the others, so that it isn't live across the peak.
///
///     a = f32[96,144,56,56] maximum(x, 0)               a = maximum(x, 0)
///     c = convolution(a, w)                             c = convolution(a, w)
///     ...                                          ==>  ...
///     dw = convolution(a, dc)                           a.again = maximum(x, 0)
///                                                       dw = convolution(a.again, dc)
///
/// Saves bytes(a) between its readers; costs its work again. A training step then keeps for its gradients only what
/// can't be computed elementwise from the rest. A value without early readers is computed only late, which costs
/// nothing.
///
/// A value is recomputed if its work is elementwise or moves (no sum, product or library routine), and reads values
/// that are live there anyway or much smaller. The work is that of the region that computes it (region/work.h), in the
/// module's instruction order; values that were never stored are computed where they are read without this pass.
///
/// Requires: verified, no calls.  Keeps: roots, donation.  Breaks: schedule.
/// Numerics: exact: the same operations on the same values.
/// Not recomputed: results, elements of tuples.
/// Tests: tests/text/passes/rematerialise/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> rematerialise(Module& module, const Target& target);

}  // namespace lowtide::engine
