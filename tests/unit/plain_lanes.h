#pragma once
/// Executes nests of plain nodes (nest/legalise.h) many iterations at a time: fast enough for sweeps over all floats.

#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

/// Runs a nest whose only piece is one parallel loop, possibly with while loops inside. buffers: one address each.
void run_in_lanes(const Nest& nest, const std::vector<void*>& buffers);

}  // namespace lowtide::engine
