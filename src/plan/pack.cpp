#include "plan/pack.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "plan/overlaps.h"

namespace lowtide {
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

/// The largest sum of other live sizes that each buffer meets.
std::vector<Bytes> load_met(const Problem& problem) {
  Step last = 0;
  for (const PackBuffer& buffer : problem.buffers) {
    if (!buffer.alive.empty()) last = std::max(last, buffer.alive.back().dies);
  }
  std::vector<Bytes> delta(static_cast<size_t>(last) + 1, 0);
  for (const PackBuffer& buffer : problem.buffers) {
    for (const Lifetime& life : buffer.alive) {
      delta[static_cast<size_t>(life.born)] += buffer.size;
      delta[static_cast<size_t>(life.dies)] -= buffer.size;
    }
  }
  std::partial_sum(delta.begin(), delta.end(), delta.begin());
  // A sparse table of maxima would be exact; the value at birth and death is what orders need.
  std::vector<Bytes> met(problem.buffers.size(), 0);
  for (size_t b = 0; b < met.size(); ++b) {
    for (const Lifetime& life : problem.buffers[b].alive) {
      const auto from = static_cast<size_t>(life.born), to = static_cast<size_t>(std::max(life.born, life.dies - 1));
      met[b] = std::max({met[b], delta[from], delta[to], delta[(from + to) / 2]});
    }
  }
  return met;
}

std::vector<int32_t> sorted_by(const Problem& problem, PackOrder order) {
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

/// Bytes taken at some moment of the buffer's life.
struct Taken {
  ArenaOffset begin, end;
};

/// Where `size` bytes fit best among what is taken, sorted by begin: in the smallest hole, else above everything.
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

/// Placed buffers in order of offset. While they are few, passing over all of them is cheaper than finding and sorting
/// those that are alive together with the next.
struct Placed {
  struct Row {
    ArenaOffset begin, end;
    Step born, dies;  ///< first and last
    int32_t buffer;
  };
  std::vector<Row> rows;

  void add(const Row& row) {
    const auto at = std::upper_bound(rows.begin(), rows.end(), row.begin,
                                     [](ArenaOffset begin, const Row& other) { return begin < other.begin; });
    rows.insert(at, row);
  }
};
constexpr size_t kFew = 8192;

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

Placement pack_in_order(const Problem& problem, PackOrder order) {
  Placement placement;
  placement.offsets.assign(problem.buffers.size(), 0);
  const bool few = problem.buffers.size() <= kFew;
  Placed rows;
  Overlaps tree(few ? Problem{} : problem);
  std::vector<Taken> taken;
  for (const int32_t b : sorted_by(problem, order)) {
    const PackBuffer& buffer = problem.buffers[static_cast<size_t>(b)];
    if (buffer.size <= 0 || buffer.alive.empty()) continue;
    const Step born = buffer.alive.front().born, dies = buffer.alive.back().dies;
    BestFit fit(buffer.size, problem.alignment);
    if (few) {
      for (const Placed::Row& row : rows.rows) {
        if (row.born >= dies || born >= row.dies) continue;
        const PackBuffer& other = problem.buffers[static_cast<size_t>(row.buffer)];
        if (alive_together(buffer, other)) fit.pass(row.begin, row.end);
      }
    } else {
      taken.clear();
      tree.visit(b, [&](int32_t other) {
        const ArenaOffset at = placement.offsets[static_cast<size_t>(other)];
        taken.push_back({at, add(at, problem.buffers[static_cast<size_t>(other)].size)});
      });
      std::sort(taken.begin(), taken.end(), [](const Taken& x, const Taken& y) { return x.begin < y.begin; });
      for (const Taken& t : taken) fit.pass(t.begin, t.end);
    }
    const ArenaOffset at = fit.offset(), end = add(at, buffer.size);
    placement.offsets[static_cast<size_t>(b)] = at;
    placement.height = std::max(placement.height, end);
    if (few) {
      rows.add({at, end, born, dies, b});
    } else {
      tree.add(b);
    }
  }
  return placement;
}

Placement pack_like_xla(const Problem& problem) {
  return keep_lower(pack_in_order(problem, PackOrder::kBySize), pack_in_order(problem, PackOrder::kByDuration));
}

Placement pack(const Problem& problem) {
  const Bytes load = load_of(problem);
  Placement best = pack_in_order(problem, PackOrder::kBySize);
  for (const PackOrder order : {PackOrder::kByDuration, PackOrder::kByArea, PackOrder::kByLoad, PackOrder::kByBirth}) {
    if (best.height <= load) break;
    best = keep_lower(std::move(best), pack_in_order(problem, order));
  }
  return best;
}

}  // namespace lowtide
