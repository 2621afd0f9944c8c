#include "plan/overlaps.h"

#include <numeric>

namespace lowtide::engine {

Overlaps::Overlaps(const Problem& problem) {
  first_.reserve(problem.buffers.size() + 1);
  std::vector<int32_t> owner;
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    first_.push_back(static_cast<int32_t>(lives_.size()));
    for (const Lifetime& life : problem.buffers[b].alive) {
      lives_.push_back(life);
      owner.push_back(static_cast<int32_t>(b));
    }
  }
  first_.push_back(static_cast<int32_t>(lives_.size()));
  std::vector<int32_t> by_birth(lives_.size());
  std::iota(by_birth.begin(), by_birth.end(), 0);
  std::stable_sort(by_birth.begin(), by_birth.end(),
                   [&](int32_t a, int32_t b) { return lives_[a].born < lives_[b].born; });
  rows_.resize(lives_.size());
  row_of_.resize(lives_.size());
  for (size_t r = 0; r < by_birth.size(); ++r) {
    const auto life = static_cast<size_t>(by_birth[r]);
    rows_[r].life = lives_[life];
    rows_[r].buffer = owner[life];
    row_of_[life] = static_cast<int32_t>(r);
  }
}

void Overlaps::add(int32_t buffer) {
  for (int32_t l = first_[buffer]; l < first_[static_cast<size_t>(buffer) + 1]; ++l) {
    const int32_t target = row_of_[l];
    const Step dies = lives_[l].dies;
    rows_[target].placed = true;
    int32_t from = 0, to = static_cast<int32_t>(rows_.size());
    while (true) {
      const int32_t middle = from + (to - from) / 2;
      Row& row = rows_[middle];
      row.latest = std::max(row.latest, dies);
      if (middle == target) break;
      if (target < middle) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
  }
}

}  // namespace lowtide::engine
