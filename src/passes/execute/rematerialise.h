#pragma once
/// Makes a stored value a second time for those who read it long after the others, across the moments where most is
/// alive.
///
///     a = f32[96,144,56,56] maximum(x, 0)               a = maximum(x, 0)
///     c = convolution(a, w)                             c = convolution(a, w)
///     ...                                          ==>  ...
///     dw = convolution(a, dc)                           a.again = maximum(x, 0)
///                                                       dw = convolution(a.again, dc)
///
/// Saves bytes(a) between its readers; costs its work again. What a training step keeps for its gradients falls to what
/// can't be had elementwise from the rest. A value that nothing reads early is made late only, which costs nothing.
///
/// A value is recomputed where its work is elementwise or moves (no sum, product or library), and reads what is alive
/// there anyway or is much smaller. The work is that of the region that makes it (region/work.h), in the order in which
/// the module's instructions stand; values that were never stored are made where they are read without this pass.
///
/// Requires: verified, no calls.  Keeps: roots, donation.  Breaks: schedule.
/// Numerics: exact: the same operations on the same values.
/// Not recomputed: results, elements of bundles.
/// Tests: tests/text/passes/rematerialise/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> rematerialise(Module& module, const Target& target);

}  // namespace lowtide::engine
