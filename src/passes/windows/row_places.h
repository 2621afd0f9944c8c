#pragma once
/// Where a cluster's outputs can be written: over inputs that nothing else reads.

#include <map>

#include "passes/windows/row_cluster.h"

namespace lowtide::engine {

/// By output: the input it takes the place of. A loop's carry, or a donated argument, is overwritten by what it becomes
/// alone; other arrays by any output of their shape.
std::map<int32_t, RowInput> places_of_outputs(const Computation& computation, const ValueGraph& graph,
                                              const RowCluster& cluster);

}  // namespace lowtide::engine
