#pragma once
/// Runs large intermediates slice by slice along a dimension that everything around them shares: the batches and heads
/// of attention, the columns of a scatter.
///
///     s = f32[8,16,4096,4096] dot(q, k)                 while i < 16:  s = f32[8,1,4096,4096] dot(q[:,i], k[:,i])
///     p = ... softmax of s along the last dimension  ==>               p = ... softmax of s
///     y = f32[8,16,4096,128] dot(p, v)                                 y[:,i] = dot(p, v[:,i])
///
/// Saves bytes(s) + bytes(p) less a slice of each. Every element is computed once, as before; each slice starts the
/// kernels anew and reads again what doesn't have the dimension, which may cost 5 % of the modelled time.
///
/// Requires: verified, no calls.  Keeps: roots, donation.  Breaks: schedule.
/// Numerics: exact (a library's dot of a slice may sum in another order than the dot of all slices).
/// Not streamed: what reduces over the dimension (sums over batches stay outside), windows, loops.
/// Tests: tests/text/passes/stream-slices/

#include "passes/pass.h"

namespace lowtide {

Result<PassResult> stream_slices(Module& module);

}  // namespace lowtide
