#pragma once
/// Runs a kernel whose results alias operands that are still read: tile by tile, through scratch.

#include "base/thread_pool.h"
#include "codegen/kernel.h"
#include "schedule/strips.h"

namespace lowtide::engine {

/// Empty, or why the kernel can't run in strips: its pieces differ from the planned ones.
std::string check_strips(const Kernel& kernel, const Strips& strips);

/// buffers: as the kernel takes them, `inputs` before the first output; changed while it runs. Same bits as with
/// results elsewhere, for every number of threads.
void run_in_strips(const Kernel& kernel, const Strips& strips, std::span<void*> buffers, size_t inputs,
                   std::byte* scratch, ThreadPool& pool);

}  // namespace lowtide::engine
