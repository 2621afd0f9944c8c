#include "plan/packings.h"

#include <algorithm>

#include "plan/check.h"

namespace lowtide::engine {
namespace {

class Hash {
 public:
  void add(int64_t number) {
    const auto product = static_cast<unsigned __int128>(sum_ ^ static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15;
    sum_ = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^ ++count_;
  }
  uint64_t sum() const { return sum_; }

 private:
  uint64_t sum_ = 0xa0761d6478bd642f, count_ = 0;
};

}  // namespace

uint64_t hash_of(const Problem& problem, const PackOptions& options) {
  Hash hash;
  for (const int64_t number : {problem.alignment, options.capacity, options.work, options.work_per_byte,
                               static_cast<int64_t>(options.least_orders)}) {
    hash.add(number);
  }
  for (const PackBuffer& buffer : problem.buffers) {
    hash.add(buffer.size);
    hash.add(buffer.alignment);
    hash.add(static_cast<int64_t>(buffer.alive.size()));
    for (const Lifetime& life : buffer.alive) {
      hash.add(life.born);
      hash.add(life.dies);
    }
  }
  return hash.sum();
}

Packings::Packings(std::span<const KnownPlacement> known) {
  for (const KnownPlacement& k : known) known_.emplace(k.problem, &k.placement);
}

namespace {

/// A known placement isn't trusted: it holds if the checker finds no fault and its height is what its buffers reach.
bool holds(const Problem& problem, const Placement& known) {
  if (!check_placement(problem, known).empty()) return false;
  ArenaOffset reached = 0;
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    if (problem.buffers[b].size > 0) reached = std::max(reached, known.offsets[b] + problem.buffers[b].size);
  }
  return known.height == reached;
}

}  // namespace

KnownPlacement Packings::pack(const Problem& problem, const PackOptions& options) const {
  const uint64_t hash = hash_of(problem, options);
  const auto known = known_.find(hash);
  if (known == known_.end() || !holds(problem, *known->second)) {
    return {hash, lowtide::engine::pack(problem, options)};
  }
  KnownPlacement taken{hash, *known->second};
  taken.placement.searched = true;
  return taken;
}

}  // namespace lowtide::engine
