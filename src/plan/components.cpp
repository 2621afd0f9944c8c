#include "plan/components.h"

#include <algorithm>

namespace lowtide::engine {

std::vector<std::vector<int32_t>> components_of(const Problem& problem) {
  const auto alive = [&](int32_t b) -> const std::vector<Lifetime>& { return problem.buffers[b].alive; };
  std::vector<int32_t> by_birth;
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    if (problem.buffers[b].size > 0 && !problem.buffers[b].alive.empty()) by_birth.push_back(static_cast<int32_t>(b));
  }
  std::stable_sort(by_birth.begin(), by_birth.end(),
                   [&](int32_t a, int32_t b) { return alive(a).front().born < alive(b).front().born; });
  std::vector<std::vector<int32_t>> components;
  Step reach = 0;
  for (const int32_t b : by_birth) {
    if (components.empty() || alive(b).front().born >= reach) components.emplace_back();
    components.back().push_back(b);
    reach = std::max(reach, alive(b).back().dies);
  }
  return components;
}

}  // namespace lowtide::engine
