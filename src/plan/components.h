#pragma once
/// Groups of buffers that share time with each other only.

#include <vector>

#include "plan/problem.h"

namespace lowtide::engine {

/// Buffers by number, in order of birth; those without a size or a life are in none. In time order.
std::vector<std::vector<int32_t>> components_of(const Problem& problem);

}  // namespace lowtide::engine
