#pragma once
/// Counts each buffer's elements from the first that the nest touches.

#include <cstdint>
#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

/// Returns by buffer: the element that is number 0 from now on. Kernels that read different slices of a stack become
/// equal. A buffer has as many elements from now on as the nest may touch.
std::vector<int64_t> rebase(Nest& nest);

}  // namespace lowtide::engine
