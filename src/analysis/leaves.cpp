#include "analysis/leaves.h"

#include <algorithm>

namespace lowtide::engine {

Leaves::Leaves(const Module& module)
    : count_(static_cast<size_t>(module.id_limit()), 0), first_(static_cast<size_t>(module.id_limit()), 0) {
  for (const auto& computation : module.computations()) {
    int64_t total = 0;
    for (const auto& instruction : computation->instructions()) {
      const auto id = static_cast<size_t>(instruction->id);
      const int64_t count = leaf_count(instruction->shape);
      first_[id] = static_cast<int32_t>(std::min(total, kMostLeaves));
      count_[id] = static_cast<int32_t>(count);
      total += count;
    }
  }
}

int64_t Leaves::count(const Computation& c) const {
  int64_t total = 0;
  for (const auto& instruction : c.instructions()) total += count(*instruction);
  return total > kMostLeaves ? -1 : total;
}

}  // namespace lowtide::engine
