#pragma once
/// Unrolls loops over the columns of rows with few elements: the stores are then adjacent, and if the loop over rows is
/// vectorised, whole registers are written (codegen/side_by_side.h).
///
///   parallel i < 1000                       parallel i < 1000
///     %0 = f32 b0[i]                          %0 = f32 b0[i]
///     parallel j < 3               ->         b1[3 i] = %0
///       b1[3 i + j] = %0                      b1[3 i + 1] = %0
///                                             b1[3 i + 2] = %0
///
/// A reduction in such a loop becomes one for all columns if its terms share costly work, which is then done once:
///
///   parallel i < 1000                       parallel i < 1000
///     parallel j < 2                          reduce k < 32 carrying c0, c1
///       reduce k < 32 carrying c     ->         %0 = f32 tanh(b0[32 i + k])
///         %0 = f32 tanh(b0[32 i + k])           next c0 + %0 * b1[2 k], c1 + %0 * b1[2 k + 1]
///         next c + %0 * b1[2 k + j]           b2[2 i] = r0
///       b2[2 i + j] = r                       b2[2 i + 1] = r1

#include "nest/nest.h"

namespace lowtide::engine {

/// Only for code generation: whether results may alias operands is decided on the nest with loops.
Nest write_out_short_loops(Nest nest);

}  // namespace lowtide::engine
