#pragma once
/// Brings the dimensions of convolutions in loops and branches into the order that XLA:CPU's library takes.
///
///     body:                                            t = f32[32,64,64,1] transpose(x), dimensions={3,1,2,0}
///       y = f32[3,3,32,8] convolution(x, g),           u = f32[64,64,1,8] transpose(g), dimensions={1,2,0,3}
///             window={size=64x64 pad=1_1x1_1},    ==>  c = f32[32,3,3,8] convolution(t, u),
///             dim_labels=f01b_i01o->01bf                     window={size=64x64 pad=1_1x1_1},
///                                                            dim_labels=b01f_01io->b01f
///                                                      y = f32[3,3,32,8] transpose(c), dimensions={1,2,0,3}
///
/// Saves time: XLA:CPU does this itself only in the entry computation (its pass ConvCanonicalization); elsewhere it
/// computes convolutions of any other order element by element, 4 to 50 times as long. It costs the transposed tiles.
/// On accelerators the compiler's layouts take in the transpositions: the same temp.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same products; XLA's library chooses the order of their sums in any case.
/// Not ordered: groups of features or batches and reversed windows, which the library doesn't take.
/// Tests: tests/text/passes/order-convolutions/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> order_convolutions(Module& module);

}  // namespace lowtide::engine
