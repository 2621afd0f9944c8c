#pragma once
/// Random nests of plain nodes, for comparing compiled kernels with execution by definition.

#include <random>
#include <vector>

#include "nest/builder.h"

namespace lowtide::engine {

struct RandomNest {
  Nest nest;
  std::vector<std::vector<std::byte>> buffers;  ///< what they hold before it runs
};

/// The same for equal seeds. Sums and products are exact whatever their order.
RandomNest random_nest(uint64_t seed);

}  // namespace lowtide::engine
