#pragma once
/// Interchanges loops: moving narrow rows column by column would fetch every row as often as it has columns, and leave
/// threads a loop of few iterations to divide. The short loop becomes the inner one, so that rows are traversed once.
///
///   parallel i < 3                          parallel j < 100000
///     parallel j < 100000          ->         parallel i < 3
///       b1[100000 i + j] = b0[i + 3 j]          b1[100000 i + j] = b0[i + 3 j]

#include "nest/nest.h"

namespace lowtide::engine {

/// Only for loops that move elements, and for directly nested pairs.
Nest turn_short_loops(Nest nest);

}  // namespace lowtide::engine
