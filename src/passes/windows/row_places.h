#pragma once
/// Where a cluster's outputs can be written: over inputs without other readers.

#include <map>

#include "passes/windows/row_cluster.h"

namespace lowtide::engine {

/// By output: the input that it replaces. A loop's carry, or a donated argument, is overwritten only by its next value;
/// other arrays by any output of their shape.
std::map<int32_t, RowInput> places_of_outputs(const Computation& computation, const ValueGraph& graph,
                                              const RowCluster& cluster);

}  // namespace lowtide::engine
