#include "plan/first_come.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <queue>
#include <set>

namespace lowtide::engine {
namespace {

/// Holes tried for a buffer that fits by size but not by alignment: far more than programs need.
constexpr int kMostTries = 256;

/// The arena as the program runs: every byte below the top is part of a live buffer or of a hole.
class Arena {
 public:
  explicit Arena(Bytes alignment) : alignment_(std::max<Bytes>(alignment, 1)) {}

  /// The bytes [begin, end) taken for a buffer, which itself lies at [at, end), aligned.
  struct Part {
    ArenaOffset begin = 0, at = 0, end = 0;
  };

  Part take(Bytes size) {
    int tries = 0;
    for (auto hole = by_size_.lower_bound({size, 0}); hole != by_size_.end() && tries < kMostTries; ++hole, ++tries) {
      const auto [length, begin] = *hole;
      const ArenaOffset at = aligned(begin), end = begin + length;
      if (end - size < at) continue;
      remove(holes_.find(begin));
      if (at + size < end) add(at + size, end);
      return {begin, at, at + size};
    }
    const Part part{top_, aligned(top_), aligned(top_) + size};
    top_ = part.end;
    return part;
  }

  void give_back(const Part& part) {
    ArenaOffset begin = part.begin, end = part.end;
    auto next = holes_.lower_bound(begin);
    if (next != holes_.end() && next->first == end) {
      end = next->second;
      next = remove(next);
    }
    if (next != holes_.begin() && std::prev(next)->second == begin) {
      begin = std::prev(next)->first;
      remove(std::prev(next));
    }
    if (end == top_) {
      top_ = begin;
    } else if (begin < end) {
      add(begin, end);
    }
  }

 private:
  using Holes = std::map<ArenaOffset, ArenaOffset>;  // begin -> end

  ArenaOffset aligned(ArenaOffset at) const { return (at + alignment_ - 1) / alignment_ * alignment_; }

  void add(ArenaOffset begin, ArenaOffset end) {
    holes_.emplace(begin, end);
    by_size_.insert({end - begin, begin});
  }

  Holes::iterator remove(Holes::iterator hole) {
    by_size_.erase({hole->second - hole->first, hole->first});
    return holes_.erase(hole);
  }

  Bytes alignment_;
  ArenaOffset top_ = 0;
  Holes holes_;
  std::set<std::pair<Bytes, ArenaOffset>> by_size_;  // the same holes: size, begin
};

}  // namespace

Placement pack_first_come(const Problem& problem) {
  Placement placement;
  placement.offsets.assign(problem.buffers.size(), 0);
  const auto life = [&](int32_t b) {
    const std::vector<Lifetime>& alive = problem.buffers[b].alive;
    return Lifetime{alive.front().born, alive.back().dies};
  };
  std::vector<int32_t> order;
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    if (problem.buffers[b].size > 0 && !problem.buffers[b].alive.empty()) order.push_back(static_cast<int32_t>(b));
  }
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    const Lifetime x = life(a), y = life(b);
    return x.born != y.born ? x.born < y.born : x.dies < y.dies;
  });
  Arena arena(problem.alignment);
  using Live = std::pair<Step, Arena::Part>;
  const auto later = [](const Live& a, const Live& b) { return a.first > b.first; };
  std::priority_queue<Live, std::vector<Live>, decltype(later)> live(later);
  for (const int32_t b : order) {
    for (; !live.empty() && live.top().first <= life(b).born; live.pop()) arena.give_back(live.top().second);
    const Arena::Part part = arena.take(problem.buffers[b].size);
    placement.offsets[b] = part.at;
    placement.height = std::max(placement.height, part.end);
    live.push({life(b).dies, part});
  }
  return placement;
}

}  // namespace lowtide::engine
