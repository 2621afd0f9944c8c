#pragma once
/// The cost of a region as a kernel (target/cost.h).

#include "region/region.h"
#include "target/cost.h"

namespace lowtide::engine {

int32_t code_size(const Region& region);

/// Modelled nanoseconds: arithmetic on all cores, bytes through one memory, the start.
double kernel_ns(const Region& region, const Cost& cost);

}  // namespace lowtide::engine
