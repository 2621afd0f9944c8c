#include "plan/greedy.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

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

/// Placed buffers in order of offset. While they are few, looking through them is cheaper than finding and sorting
/// those that are live together with the next buffer. They are in chunks, each with the set of parts of the program
/// during which any of its buffers is live: most chunks have none that is live together with a short-lived buffer. Of
/// the others, blocks of lifetimes are compared at once.
class Placed {
 public:
  explicit Placed(const Problem& problem) {
    Step last = std::numeric_limits<Step>::min();
    first_ = std::numeric_limits<Step>::max();
    for (const PackBuffer& buffer : problem.buffers) {
      if (buffer.alive.empty()) continue;
      first_ = std::min(first_, buffer.alive.front().born);
      last = std::max(last, buffer.alive.back().dies);
    }
    steps_ = std::max<int64_t>(1, int64_t{last} - first_ + 1);
  }

  /// A buffer that was placed at [begin, end).
  struct Row {
    ArenaOffset begin, end;
    int32_t buffer;
    bool has_gaps;  ///< in its life: it isn't live from its first birth to its last death
  };

  void add(const Row& row, Step born, Step dies) {
    if (chunks_.empty()) chunks_.push_back(std::make_unique<Chunk>());
    auto at = std::ranges::upper_bound(chunks_, row.begin, {}, [](const auto& c) { return c->rows[0].begin; });
    if (at != chunks_.begin()) --at;
    if ((*at)->count == kChunk) {
      at = chunks_.insert(std::next(at), (*at)->split());
      for (auto half = std::prev(at); half <= at; ++half) find_parts(**half);
      if (row.begin < (*at)->rows[0].begin) --at;
    }
    (*at)->insert(row, born, dies);
    note_parts((*at)->parts, born, dies);
    ++size_;
  }

  size_t size() const { return size_; }

  /// Calls f(row) by offset for those whose [first birth, last death) overlaps [born, dies).
  template <class F>
  void visit(Step born, Step dies, F&& f) const {
    Parts mine{};
    note_parts(mine, born, dies);
    const size_t from = part_of(born) / 64, to = part_of(last_step(born, dies)) / 64;
    for (const auto& chunk : chunks_) {
      uint64_t both = 0;
      for (size_t w = from; w <= to; ++w) both |= chunk->parts[w] & mine[w];
      if (both != 0) chunk->visit(born, dies, f);
    }
  }

 private:
  static constexpr size_t kChunk = 64, kBlock = 16, kParts = 512;
  using Parts = std::array<uint64_t, kParts / 64>;  ///< a set of equal parts of the program's steps
  struct Chunk {
    Parts parts{};
    size_t count = 0;
    std::array<Step, kChunk> born{}, dies{};  ///< first birth, last death; zeros after the last row overlap nothing
    std::array<Row, kChunk> rows{};

    void insert(const Row& row, Step row_born, Step row_dies) {
      size_t place = count;
      for (; place > 0 && row.begin < rows[place - 1].begin; --place) {
        rows[place] = rows[place - 1];
        born[place] = born[place - 1];
        dies[place] = dies[place - 1];
      }
      rows[place] = row;
      born[place] = row_born;
      dies[place] = row_dies;
      ++count;
    }

    /// Moves the second half of the rows to a new chunk.
    std::unique_ptr<Chunk> split() {
      auto half = std::make_unique<Chunk>();
      for (size_t k = kChunk / 2; k < kChunk; ++k) {
        half->rows[k - kChunk / 2] = rows[k];
        half->born[k - kChunk / 2] = std::exchange(born[k], 0);
        half->dies[k - kChunk / 2] = std::exchange(dies[k], 0);
      }
      half->count = count = kChunk / 2;
      return half;
    }

    template <class F>
    void visit(Step from, Step to, F&& f) const {
      // without branches, so that it is vectorised
      const auto overlaps = [&](size_t k) { return int{born[k] < to} & int{from < dies[k]}; };
      for (size_t block = 0; block < count; block += kBlock) {
        int any = 0;
        for (size_t j = 0; j < kBlock; ++j) any |= overlaps(block + j);
        if (any == 0) continue;
        for (size_t k = block; k < std::min(block + kBlock, count); ++k) {
          if (overlaps(k) != 0) f(rows[k]);
        }
      }
    }
  };

  static Step last_step(Step born, Step dies) { return std::max(born, dies - 1); }
  size_t part_of(Step step) const { return static_cast<size_t>((int64_t{step} - first_) * int64_t{kParts} / steps_); }

  void note_parts(Parts& parts, Step born, Step dies) const {
    const size_t first = part_of(born), last = part_of(last_step(born, dies));
    for (size_t w = first / 64; w <= last / 64; ++w) {
      const uint64_t after = w == first / 64 ? ~uint64_t{0} << first % 64 : ~uint64_t{0};
      const uint64_t before = w == last / 64 ? ~uint64_t{0} >> (63 - last % 64) : ~uint64_t{0};
      parts[w] |= after & before;
    }
  }

  void find_parts(Chunk& chunk) const {
    chunk.parts = {};
    for (size_t k = 0; k < chunk.count; ++k) note_parts(chunk.parts, chunk.born[k], chunk.dies[k]);
  }

  Step first_ = 0;
  int64_t steps_ = 1;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  size_t size_ = 0;
};
constexpr size_t kMany = 65536;  ///< of more buffers, those that are live together are found by a tree, then sorted
/// How work is counted: of few buffers each placed one is a visit, of more each that is live meanwhile is 15.
constexpr size_t kFew = 8192;
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
    const Bytes x = buffers[a].size, y = buffers[b].size;
    if (x != y) return x > y;
    return duration(buffers[a]) > duration(buffers[b]);
  };
  const auto longer = [&](int32_t a, int32_t b) {
    const int64_t x = duration(buffers[a]), y = duration(buffers[b]);
    return x != y ? x > y : buffers[a].size > buffers[b].size;
  };
  const auto area = [&](int32_t b) {
    const PackBuffer& buffer = buffers[b];
    return static_cast<double>(buffer.size) * static_cast<double>(duration(buffer));
  };
  const auto birth = [&](int32_t b) {
    const PackBuffer& buffer = buffers[b];
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
        const int64_t x = met[a], y = met[b];
        return x != y ? x > y : larger(a, b);
      });
      break;
    }
    case PackOrder::kByLoad: {
      const std::vector<Bytes> met = load_met(problem);
      std::stable_sort(by.begin(), by.end(), [&](int32_t a, int32_t b) {
        const Bytes x = met[a], y = met[b];
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
  const bool few = problem.buffers.size() <= kFew, many = problem.buffers.size() > kMany;
  Placed rows(problem);
  Overlaps tree(many ? problem : Problem{});
  std::vector<Taken> taken;
  int64_t visited = 0;
  for (const int32_t b : sequence) {
    const PackBuffer& buffer = problem.buffers[b];
    if (buffer.size <= 0 || buffer.alive.empty()) continue;
    const Step born = buffer.alive.front().born, dies = buffer.alive.back().dies;
    const bool has_gaps = buffer.alive.size() > 1;
    BestFit fit(buffer.size, problem.alignment_of(buffer));
    int64_t passed = 0;
    if (many) {
      taken.clear();
      tree.visit(b, [&](int32_t other) {
        const ArenaOffset at = placement.offsets[other];
        taken.push_back({at, add(at, problem.buffers[other].size)});
      });
      std::sort(taken.begin(), taken.end(), [](const Taken& x, const Taken& y) { return x.begin < y.begin; });
      for (const Taken& t : taken) fit.pass(t.begin, t.end);
      passed = std::ssize(taken);
    } else {
      rows.visit(born, dies, [&](const Placed::Row& row) {
        const bool may_miss = has_gaps || row.has_gaps;
        const auto& other = problem.buffers[row.buffer];
        if (may_miss && !alive_together(buffer, other)) return;
        fit.pass(row.begin, row.end);
        ++passed;
      });
    }
    visited += few ? static_cast<int64_t>(rows.size()) : kSortedVisit * passed;
    const ArenaOffset at = fit.offset(), end = add(at, buffer.size);
    placement.offsets[b] = at;
    placement.height = std::max(placement.height, end);
    if (many) {
      tree.add(b);
    } else {
      rows.add({at, end, b, has_gaps}, born, dies);
    }
  }
  if (work != nullptr) *work += visited;
  return placement;
}

Placement pack_like_xla(const Problem& problem) {
  return keep_lower(pack_in_order(problem, PackOrder::kBySize), pack_in_order(problem, PackOrder::kByDuration));
}

}  // namespace lowtide::engine
