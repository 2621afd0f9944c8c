#pragma once
/// Plain elementwise loop fusion: which values never get a buffer because one kernel computes them where it reads them.

#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// True, by instruction id, for elementwise operations and index maps all of whose readers end up in one kernel, and
/// for cheap ones that grow (broadcast, iota, widening converts, masks) whatever kernels read them. Kernels that take
/// producers in are elementwise operations, index maps, reductions and the updates of dynamic-update-slice and scatter;
/// dots, sorts, loops, calls, results and fusions as they stand read buffers.
std::vector<bool> fuse_loops(const Module& module);

}  // namespace lowtide::engine
