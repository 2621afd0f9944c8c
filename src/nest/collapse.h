#pragma once
/// Merges directly nested loops, both parallel or both sequential and without carried values, if every index is linear
/// in both together.
///
///   parallel i < 3                      parallel k < 12
///     parallel j < 4            ->        b1[k] = b0[k]
///       b1[4 i + j] = b0[4 i + j]
///
/// A loop of one iteration is removed in any case, since threads divide the outermost loop.

#include "nest/nest.h"

namespace lowtide::engine {

Nest collapse_loops(const Nest& nest);

}  // namespace lowtide::engine
