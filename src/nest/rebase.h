#pragma once
/// Renumbers each buffer's elements from the first one that the nest touches.

#include <cstdint>
#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

/// Returns for each buffer the element that is now number 0. Kernels that read different slices of a stack become
/// equal. A buffer then has as many elements as the nest may touch.
std::vector<int64_t> rebase(Nest& nest);

}  // namespace lowtide::engine
