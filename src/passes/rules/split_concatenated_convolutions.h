#pragma once
/// Computes a convolution of a concatenation from convolutions of its parts, so that the concatenation needn't be
/// stored.
///
///     x = concatenate(a, b), along batches                  p = convolution(a, w)
///     y = convolution(x, w)                          ==>    q = convolution(b, w)
///                                                           y = concatenate(p, q)
///
///     x = concatenate(a, b), along features                 p = convolution(a, slice(w))
///     y = convolution(x, w)                          ==>    q = convolution(b, slice(w))
///                                                           y = add(p, q)
///
/// The same for the right operand. Saves bytes(x): libraries read whole arrays, and the parts are often elementwise. In
/// a network that concatenates what it skipped with what it computed meanwhile, the first form is a kernel's gradient,
/// the second the layer itself.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: the first form is exact; the second sums in another order, and isn't used if sums keep their order.
/// Not rewritten: dots, whose concatenations streams hide along other dimensions; concatenations below 1 MiB, or
/// smaller than what the parts' products move in addition; the second form with results of fewer bits than f32, whose
/// parts would be rounded.
/// Tests: tests/text/passes/split-concatenated-convolutions/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> split_concatenated_convolutions(Module& module);

}  // namespace lowtide::engine
