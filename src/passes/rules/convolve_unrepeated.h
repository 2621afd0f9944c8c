#pragma once
/// Convolves an array before its elements are repeated (nearest-neighbour upsampling) instead of afterwards, so that
/// the repeated array needn't be stored. Repeating r times along a dimension is itself a convolution, of the array
/// dilated by r with a box of r ones, and two convolutions are one with a kernel of both:
///
///     u = f32[8,64,64,C] each element of x 2 x 2 times      k' = f32[4,4,C,F] sums of k over boxes of 2 x 2
///     y = convolution(u, k), k = f32[3,3,C,F]         ==>   y = convolution(x, k'), x dilated by 2
///
///     d = convolution(u, g), the gradient of k        ==>   d = sums over boxes of 2 x 2 of convolution(g, x),
///                                                               x dilated by 2, as the gradient of k'
///     h = convolution(g, k)                           ==>   h = convolution(g, k'), in strides of 2
///     s = sums of h over blocks of 2 x 2                    s = h
///
/// The last is the gradient of x. Saves bytes(u) and, if kernels of 3 elements read what is repeated twice, a third of
/// the multiplications for each dimension: of the r + 2 taps of k', every r-th meets an element of x.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: sums in another order; not used if sums keep their order, nor for types shorter than f32, whose kernels'
///   sums would be rounded.
/// Not rewritten: strided or dilated convolutions; repeated arrays below 1 MiB or not much larger than k'.
/// Source: a transposed convolution is one convolution for each of its phases: Shi et al., "Is the deconvolution layer
///   the same as a convolutional layer?", 2016.
/// Tests: tests/text/passes/convolve-unrepeated/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> convolve_unrepeated(Module& module);

}  // namespace lowtide::engine
