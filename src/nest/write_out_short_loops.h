#pragma once
/// Rows of a few elements, whose columns a loop makes one after the other, are made at once: their stores then stand
/// beside each other, and where rows are spread over lanes whole registers are written (codegen/side_by_side.h).
///
///   parallel i < 1000                       parallel i < 1000
///     %0 = f32 b0[i]                          %0 = f32 b0[i]
///     parallel j < 3               ->         b1[3 i] = %0
///       b1[3 i + j] = %0                      b1[3 i + 1] = %0
///                                             b1[3 i + 2] = %0

#include "nest/nest.h"

namespace lowtide::engine {

/// For what code is made of alone: who asks how a nest's results may lie over its operands asks the one with loops.
Nest write_out_short_loops(Nest nest);

}  // namespace lowtide::engine
