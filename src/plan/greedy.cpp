#include "plan/greedy.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "plan/overlaps.h"

namespace lowtide::engine {
namespace {

constexpr Bytes kMost = std::numeric_limits<Bytes>::max();

Bytes add(Bytes a, Bytes b) { return a > kMost - b ? kMost : a + b; }

Bytes align_up(Bytes n, Bytes alignment) {
  if (alignment <= 1 || n > kMost - alignment) return n;
  return (n + alignment - 1) / alignment * alignment;
}

/// From the first birth to the last death.
int64_t duration(const PackBuffer& buffer) {
  return buffer.alive.empty() ? 0 : int64_t{buffer.alive.back().dies} - buffer.alive.front().born;
}

/// For each buffer, the largest load (sum of live sizes) during its life, sampled.
std::vector<Bytes> load_met(const Problem& problem) {
  std::vector<std::pair<Step, Bytes>> events;
  for (const PackBuffer& buffer : problem.buffers) {
    for (const Lifetime& life : buffer.alive) {
      events.emplace_back(life.born, buffer.size);
      events.emplace_back(life.dies, -buffer.size);
    }
  }
  std::sort(events.begin(), events.end());
  for (size_t e = 1; e < events.size(); ++e) events[e].second += events[e - 1].second;
  const auto live_at = [&](Step at) {
    return std::prev(std::upper_bound(events.begin(), events.end(), std::pair{at, kMost}))->second;
  };
  // A sparse table of maxima would be exact; for orders, the load at birth, at death and midway suffices.
  std::vector<Bytes> met(problem.buffers.size(), 0);
  for (size_t b = 0; b < met.size(); ++b) {
    for (const Lifetime& life : problem.buffers[b].alive) {
      const Step last = std::max(life.born, life.dies - 1);
      met[b] = std::max({met[b], live_at(life.born), live_at(last), live_at(std::midpoint(life.born, last))});
    }
  }
  return met;
}

/// For each buffer, the number of steps with births or deaths from its first birth to its last death.
std::vector<int64_t> events_met(const Problem& problem) {
  std::vector<Step> events;
  for (const PackBuffer& buffer : problem.buffers) {
    for (const Lifetime& life : buffer.alive) events.insert(events.end(), {life.born, life.dies});
  }
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  std::vector<int64_t> met(problem.buffers.size(), 0);
  for (size_t b = 0; b < met.size(); ++b) {
    const std::vector<Lifetime>& alive = problem.buffers[b].alive;
    if (alive.empty()) continue;
    const auto first = std::lower_bound(events.begin(), events.end(), alive.front().born);
    met[b] = std::lower_bound(first, events.end(), alive.back().dies) - first;
  }
  return met;
}

/// Bytes that are taken at some step of the buffer's life.
struct Taken {
  ArenaOffset begin, end;
};

/// Finds where `size` bytes fit best among taken bytes, sorted by begin: in the smallest hole, else above everything.
class BestFit {
 public:
  BestFit(Bytes size, Bytes alignment) : size_(size), alignment_(alignment) {}
  void pass(ArenaOffset begin, ArenaOffset end) {
    if (begin > top_) {
      const ArenaOffset at = align_up(top_, alignment_);
      const Bytes hole = begin - top_;
      if (at <= begin && begin - at >= size_ && hole < best_hole_) {
        best_ = at;
        best_hole_ = hole;
      }
    }
    top_ = std::max(top_, end);
  }
  ArenaOffset offset() const { return best_ >= 0 ? best_ : align_up(top_, alignment_); }

 private:
  Bytes size_, alignment_;
  ArenaOffset top_ = 0, best_ = -1;
  Bytes best_hole_ = kMost;
};

bool alive_together(const PackBuffer& a, const PackBuffer& b) {
  for (size_t i = 0, j = 0; i < a.alive.size() && j < b.alive.size();) {
    if (a.alive[i].overlaps(b.alive[j])) return true;
    (a.alive[i].dies < b.alive[j].dies ? i : j)++;
  }
  return false;
}

/// Placed buffers in order of offset. While they are few, visiting all of them is cheaper than finding and sorting
/// those that are live together with the next buffer. Lifetimes are in separate arrays, so that a block of them is
/// compared at once: most blocks contain none that overlaps.
class Placed {
 public:
  void add(ArenaOffset begin, ArenaOffset end, Step born, Step dies, int32_t buffer) {
    const auto at = std::upper_bound(taken_.begin(), taken_.end(), begin,
                                     [](ArenaOffset given, const Row& row) { return given < row.begin; });
    const auto place = at - taken_.begin();
    taken_.insert(at, {begin, end, buffer});
    born_.insert(born_.begin() + place, born);
    dies_.insert(dies_.begin() + place, dies);
  }

  size_t size() const { return taken_.size(); }

  /// Calls f(begin, end, buffer) by offset for those whose [first birth, last death) overlaps [born, dies).
  template <class F>
  void visit(Step born, Step dies, F&& f) const {
    // without branches, so that it is vectorised
    const auto overlaps = [&](size_t k) { return int{born_[k] < dies} & int{born < dies_[k]}; };
    const auto look_at = [&](size_t from, size_t to) {
      for (size_t k = from; k < to; ++k) {
        if (overlaps(k) != 0) f(taken_[k].begin, taken_[k].end, taken_[k].buffer);
      }
    };
    size_t k = 0;
    for (; k + kBlock <= taken_.size(); k += kBlock) {
      int any = 0;
      for (size_t j = 0; j < kBlock; ++j) any |= overlaps(k + j);
      if (any != 0) look_at(k, k + kBlock);
    }
    look_at(k, taken_.size());
  }

 private:
  static constexpr size_t kBlock = 16;
  struct Row {
    ArenaOffset begin, end;
    int32_t buffer;
  };
  std::vector<Row> taken_;
  std::vector<Step> born_, dies_;  ///< first birth, last death
};
constexpr size_t kFew = 8192;
/// The cost of a visit with finding and sorting, relative to a visit when all buffers are visited.
constexpr int64_t kSortedVisit = 15;

Placement keep_lower(Placement a, Placement b) { return b.height < a.height ? std::move(b) : std::move(a); }

}  // namespace

Bytes load_of(const Problem& problem) {
  std::vector<std::pair<Step, Bytes>> events;
  for (const PackBuffer& buffer : problem.buffers) {
    for (const Lifetime& life : buffer.alive) {
      if (life.dies <= life.born) continue;
      events.emplace_back(life.born, buffer.size);
      events.emplace_back(life.dies, -buffer.size);
    }
  }
  std::sort(events.begin(), events.end());  // deaths, being negative, come first at a step
  Bytes live = 0, most = 0;
  for (const auto& [at, bytes] : events) {
    live = bytes > 0 ? add(live, bytes) : live + bytes;
    most = std::max(most, live);
  }
  return most;
}

std::vector<int32_t> pack_sequence(const Problem& problem, PackOrder order) {
  std::vector<int32_t> by(problem.buffers.size());
  std::iota(by.begin(), by.end(), 0);
  const auto& buffers = problem.buffers;
  const auto larger = [&](int32_t a, int32_t b) {
    const Bytes x = buffers[static_cast<size_t>(a)].size, y = buffers[static_cast<size_t>(b)].size;
    if (x != y) return x > y;
    return duration(buffers[static_cast<size_t>(a)]) > duration(buffers[static_cast<size_t>(b)]);
  };
  const auto longer = [&](int32_t a, int32_t b) {
    const int64_t x = duration(buffers[static_cast<size_t>(a)]), y = duration(buffers[static_cast<size_t>(b)]);
    return x != y ? x > y : buffers[static_cast<size_t>(a)].size > buffers[static_cast<size_t>(b)].size;
  };
  const auto area = [&](int32_t b) {
    const PackBuffer& buffer = buffers[static_cast<size_t>(b)];
    return static_cast<double>(buffer.size) * static_cast<double>(duration(buffer));
  };
  const auto birth = [&](int32_t b) {
    const PackBuffer& buffer = buffers[static_cast<size_t>(b)];
    return buffer.alive.empty() ? 0 : buffer.alive.front().born;
  };
  switch (order) {
    case PackOrder::kBySize: std::stable_sort(by.begin(), by.end(), larger); break;
    case PackOrder::kByDuration: std::stable_sort(by.begin(), by.end(), longer); break;
    case PackOrder::kByArea:
      std::stable_sort(by.begin(), by.end(), [&](int32_t a, int32_t b) { return area(a) > area(b); });
      break;
    case PackOrder::kByBirth:
      std::stable_sort(by.begin(), by.end(),
                       [&](int32_t a, int32_t b) { return birth(a) != birth(b) ? birth(a) < birth(b) : larger(a, b); });
      break;
    case PackOrder::kByEvents: {
      const std::vector<int64_t> met = events_met(problem);
      std::stable_sort(by.begin(), by.end(), [&](int32_t a, int32_t b) {
        const int64_t x = met[static_cast<size_t>(a)], y = met[static_cast<size_t>(b)];
        return x != y ? x > y : larger(a, b);
      });
      break;
    }
    case PackOrder::kByLoad: {
      const std::vector<Bytes> met = load_met(problem);
      std::stable_sort(by.begin(), by.end(), [&](int32_t a, int32_t b) {
        const Bytes x = met[static_cast<size_t>(a)], y = met[static_cast<size_t>(b)];
        return x != y ? x > y : larger(a, b);
      });
      break;
    }
  }
  return by;
}

Placement pack_in_order(const Problem& problem, PackOrder order) {
  return pack_in_sequence(problem, pack_sequence(problem, order));
}

Placement pack_in_sequence(const Problem& problem, std::span<const int32_t> sequence, int64_t* work) {
  Placement placement;
  placement.offsets.assign(problem.buffers.size(), 0);
  const bool few = problem.buffers.size() <= kFew;
  Placed rows;
  Overlaps tree(few ? Problem{} : problem);
  std::vector<Taken> taken;
  int64_t visited = 0;
  for (const int32_t b : sequence) {
    const PackBuffer& buffer = problem.buffers[static_cast<size_t>(b)];
    if (buffer.size <= 0 || buffer.alive.empty()) continue;
    const Step born = buffer.alive.front().born, dies = buffer.alive.back().dies;
    BestFit fit(buffer.size, problem.alignment_of(buffer));
    if (few) {
      visited += static_cast<int64_t>(rows.size());
      rows.visit(born, dies, [&](ArenaOffset begin, ArenaOffset end, int32_t other) {
        if (alive_together(buffer, problem.buffers[static_cast<size_t>(other)])) fit.pass(begin, end);
      });
    } else {
      taken.clear();
      tree.visit(b, [&](int32_t other) {
        const ArenaOffset at = placement.offsets[static_cast<size_t>(other)];
        taken.push_back({at, add(at, problem.buffers[static_cast<size_t>(other)].size)});
      });
      std::sort(taken.begin(), taken.end(), [](const Taken& x, const Taken& y) { return x.begin < y.begin; });
      for (const Taken& t : taken) fit.pass(t.begin, t.end);
      visited += kSortedVisit * static_cast<int64_t>(taken.size());
    }
    const ArenaOffset at = fit.offset(), end = add(at, buffer.size);
    placement.offsets[static_cast<size_t>(b)] = at;
    placement.height = std::max(placement.height, end);
    if (few) {
      rows.add(at, end, born, dies, b);
    } else {
      tree.add(b);
    }
  }
  if (work != nullptr) *work += visited;
  return placement;
}

Placement pack_like_xla(const Problem& problem) {
  return keep_lower(pack_in_order(problem, PackOrder::kBySize), pack_in_order(problem, PackOrder::kByDuration));
}

}  // namespace lowtide::engine
