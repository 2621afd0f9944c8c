#pragma once
/// Columns of narrow rows, moved one column after the other, would fetch every row as often as it has columns, and give
/// threads a loop of few iterations to share. The short loop goes inside, so that rows are walked once.
///
///   parallel i < 3                          parallel j < 100000
///     parallel j < 100000          ->         parallel i < 3
///       b1[100000 i + j] = b0[i + 3 j]          b1[100000 i + j] = b0[i + 3 j]

#include "nest/nest.h"

namespace lowtide::engine {

/// Only of loops that move elements, and of pairs that stand directly inside each other.
Nest turn_short_loops(Nest nest);

}  // namespace lowtide::engine
