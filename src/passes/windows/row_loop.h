#pragma once
/// Writes a cluster of rows as a loop over tiles, with the rows at the edges computed before and after it.

#include "passes/windows/row_cluster.h"

namespace lowtide::engine {

/// `tile`: its number of rows; at least one tile lies within the cluster's first and last row. Readers of outputs read
/// the loop's results; members stay, without readers. An output is written over an input whose last reader is the
/// cluster: rows that later tiles still read are kept separately. False: no order satisfies the loop and values outside
/// of it; the module is then invalid.
bool stream_rows(Computation& computation, const ValueGraph& graph, const std::vector<ValueState>& states,
                 const RowCluster& cluster, int64_t tile);

}  // namespace lowtide::engine
