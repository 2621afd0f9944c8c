#pragma once
/// Splits the body of a parallel loop over rows: each row's reductions run in lanes along the row, one row after the
/// other, and what follows them for several rows at once, in lanes from row to row.
///
///   parallel i < 10000                            for each 16 rows:
///     reduce k < 200 carrying c        ->           for each row i:  r[i] = sum of b0[200 i + k] * b1[k], in lanes k
///       next c + b0[200 i + k] * b1[k]              b2[i] = log(1 + exp(r[i])) for 16 rows, in lanes i
///     b2[i] = log(1 + exp(r))

#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

struct LanesAfter {
  std::vector<Item> rows;       ///< row by row: up to the last reduction
  std::vector<Item> after;      ///< in lanes: the stores, and what the body itself computes for them
  std::vector<NodeId> results;  ///< of the reductions
  bool splits() const { return !results.empty(); }
};

/// Empty if the loop can't be split: it isn't parallel, contains other loops than reductions, stores before the last of
/// them, or has results that aren't numbers of at most 32 bits or floats.
LanesAfter split_after_reductions(const Nest& nest, int32_t loop);

}  // namespace lowtide::engine
