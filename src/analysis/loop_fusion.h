#pragma once
/// Plain elementwise loop fusion: finds values that need no buffer because a kernel computes them where it reads them.

#include <optional>
#include <vector>

#include "ir/module.h"
#include "ir/xla_backend.h"

namespace lowtide::engine {

/// True, by instruction id, for elementwise operations and index maps whose readers are all in one kernel, and for
/// cheap ones with results at least as large as their operands (broadcast, iota, widening converts, masks) even if
/// several kernels read them. Producers are fused into elementwise operations, index maps, reductions and the updates
/// of dynamic-update-slice and scatter; dots, sorts, loops, calls, results and existing fusions read buffers.
/// XLA:CPU leaves reductions of floats to YNNPACK, together with what YNNPACK can compute before them; of other
/// reductions it divides those over many elements into windows. Both read everything else from buffers.
std::vector<bool> fuse_loops(const Module& module, std::optional<XlaBackend> backend = std::nullopt);

}  // namespace lowtide::engine
