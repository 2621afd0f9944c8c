#include "plan/search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_set>

#include "plan/sections.h"

namespace lowtide::engine {
namespace {

constexpr Bytes kMost = std::numeric_limits<Bytes>::max();
/// Nodes of the first round; each round doubles it.
constexpr int64_t kFirstRound = 1000;
/// Failed parts remembered; each takes at least 16 bytes.
constexpr size_t kMostFailed = 1 << 20;

/// Which buffer comes first among those with the same lowest offset.
enum class Rank : uint8_t {
  kDurationFirst,  ///< duration, area, load
  kLoadThenArea,   ///< load, area, duration
  kLoadThenSpan,   ///< load, duration, area
};
constexpr std::array kRanks = {Rank::kDurationFirst, Rank::kLoadThenArea, Rank::kLoadThenSpan};

Bytes align_up(Bytes n, Bytes alignment) { return alignment <= 1 ? n : (n + alignment - 1) / alignment * alignment; }

uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

struct Buffer {
  Bytes size = 0;     ///< rounded up to the common divisor of all alignments, where the next can start
  Bytes written = 0;  ///< not rounded: the topmost buffer may end here
  Bytes alignment = 1;
  int64_t duration = 0;
  int32_t begin = 0, end = 0;  ///< sections [begin, end)
};

class Search {
 public:
  Search(const Problem& problem, std::span<const int32_t> chosen, Bytes capacity)
      : sections_(make_sections(problem, chosen)), capacity_(capacity) {
    Bytes shared = 0;
    for (const int32_t b : chosen) {
      const PackBuffer& from = problem.buffers[b];
      Buffer& buffer = buffers_.emplace_back();
      buffer.written = from.size;
      buffer.alignment = problem.alignment_of(from);
      buffer.duration = int64_t{from.alive.back().dies} - from.alive.front().born;
      shared = std::gcd(shared, buffer.alignment);
    }
    for (size_t b = 0; b < buffers_.size(); ++b) {
      buffers_[b].size = align_up(buffers_[b].written, shared);
      buffers_[b].begin = sections_.begin_of(static_cast<int32_t>(b));
      buffers_[b].end = sections_.end_of(static_cast<int32_t>(b));
    }
    bound_ = align_up(capacity, shared);
    by_time_.resize(buffers_.size());
    std::iota(by_time_.begin(), by_time_.end(), 0);
    std::stable_sort(by_time_.begin(), by_time_.end(), [&](int32_t a, int32_t b) { return at(a).begin < at(b).begin; });
  }

  SearchOutcome run(int64_t& nodes, std::vector<ArenaOffset>& offsets) {
    for (const Buffer& buffer : buffers_) {
      if (buffer.written > capacity_) return SearchOutcome::kImpossible;
    }
    for (int64_t round = kFirstRound;; round = std::min(round * 2, kMost / 4)) {
      for (const Rank rank : kRanks) {
        if (nodes <= 0) return SearchOutcome::kBudgetSpent;
        const int64_t granted = std::min(round, nodes);
        const bool found = attempt(rank, granted);
        nodes -= granted - std::max<int64_t>(nodes_left_, 0);
        if (found) {
          offsets = offset_;
          return SearchOutcome::kFound;
        }
        if (nodes_left_ >= 0) return SearchOutcome::kImpossible;
      }
    }
  }

 private:
  const Buffer& at(int32_t b) const { return buffers_[b]; }

  bool attempt(Rank rank, int64_t nodes) {
    rank_by_ = rank;
    nodes_left_ = nodes;
    const size_t count = buffers_.size(), sections = sections_.members.size();
    lowest_.assign(count, 0);
    offset_.assign(count, 0);
    placed_.assign(count, 0);
    rank_.assign(count, 0);
    left_.assign(sections, 0);
    unplaced_.assign(sections, 0);
    low_one_.assign(sections, 0);
    for (size_t s = 0; s < sections; ++s) {
      for (const int32_t b : sections_.members[s]) left_[s] += at(b).size;
      unplaced_[s] = static_cast<int32_t>(sections_.members[s].size());
      low_one_[s] = sections_.members[s].front();
      if (left_[s] > bound_) return false;
    }
    raised_.clear();
    history_.clear();
    std::vector<int32_t> all = by_time_;
    give_ranks(all);
    return solve(all, 0, -1);
  }

  /// Ranks the buffers of a part by rank_by_, with the load still to place in their sections.
  void give_ranks(std::span<const int32_t> part) {
    struct Row {
      std::array<double, 3> key;
      int32_t buffer;
    };
    std::vector<Row> rows;
    rows.reserve(part.size());
    for (const int32_t b : part) {
      Bytes most = 0;
      for (const Sections::Range& range : sections_.ranges[b]) {
        for (int32_t s = range.begin; s < range.end; ++s) most = std::max(most, left_[s]);
      }
      const double load = -static_cast<double>(most), duration = -static_cast<double>(at(b).duration);
      const double area = duration * static_cast<double>(at(b).size);
      switch (rank_by_) {
        case Rank::kDurationFirst: rows.push_back({{duration, area, load}, b}); break;
        case Rank::kLoadThenArea: rows.push_back({{load, area, duration}, b}); break;
        case Rank::kLoadThenSpan: rows.push_back({{load, duration, area}, b}); break;
      }
    }
    std::sort(rows.begin(), rows.end(),
              [](const Row& a, const Row& b) { return a.key != b.key ? a.key < b.key : a.buffer < b.buffer; });
    for (size_t r = 0; r < rows.size(); ++r) rank_[rows[r].buffer] = static_cast<int32_t>(r);
  }

  /// Places all of `part`, sorted by first section, at offsets not below `floor`.
  bool solve(std::span<int32_t> part, ArenaOffset floor, int32_t last_rank) {
    if (part.empty()) return true;
    std::vector<size_t> cuts;
    int32_t reach = at(part[0]).end;
    for (size_t i = 1; i < part.size(); ++i) {
      if (at(part[i]).begin >= reach) cuts.push_back(i);
      reach = std::max(reach, at(part[i]).end);
    }
    if (cuts.empty()) return place_next(part, floor, last_rank);

    cuts.push_back(part.size());
    std::vector<uint64_t> keys;
    size_t from = 0;
    for (const size_t to : cuts) {
      keys.push_back(key_of(part.subspan(from, to - from)));
      if (failed_.contains(keys.back())) return false;
      from = to;
    }
    std::vector<int32_t> ranks;
    for (const int32_t b : part) ranks.push_back(rank_[b]);
    bool solved = true;
    from = 0;
    for (size_t c = 0; c < cuts.size() && solved; ++c) {
      const std::span<int32_t> own = part.subspan(from, cuts[c] - from);
      from = cuts[c];
      ArenaOffset lowest = kMost;
      for (const int32_t b : own) lowest = std::min(lowest, lowest_[b]);
      give_ranks(own);
      solved = place_next(own, lowest, -1);
      if (!solved && nodes_left_ >= 0 && failed_.size() < kMostFailed) failed_.insert(keys[c]);
    }
    for (size_t i = 0; i < part.size(); ++i) rank_[part[i]] = ranks[i];
    return solved;
  }

  /// A hash of the part: parts with the same buffers at the same lowest offsets are equivalent. Different parts collide
  /// with a probability of 2^-64: then a packing may be missed, but none is wrong.
  uint64_t key_of(std::span<const int32_t> part) const {
    uint64_t key = 0;
    for (const int32_t b : part) {
      key += mix(mix(static_cast<uint64_t>(b)) ^ static_cast<uint64_t>(lowest_[b]));
    }
    return key;
  }

  bool place_next(std::span<int32_t> part, ArenaOffset floor, int32_t last_rank) {
    if (--nodes_left_ < 0) return false;
    // The two lowest ends: no buffer may start where another would fit entirely below it.
    ArenaOffset end = kMost, second_end = kMost;
    int32_t ends_first = -1, begin = at(part[0]).begin, last = 0;
    for (const int32_t b : part) {
      const Buffer& buffer = at(b);
      last = std::max(last, buffer.end);
      const ArenaOffset own = align_up(std::max(lowest_[b], floor), buffer.alignment) + buffer.size;
      if (own < end) {
        second_end = end;
        end = own;
        ends_first = b;
      } else {
        second_end = std::min(second_end, own);
      }
    }
    Bytes most_left = 0;
    for (int32_t s = begin; s < last; ++s) most_left = std::max(most_left, left_[s]);
    const ArenaOffset highest = bound_ - most_left;  // later buffers are placed no lower
    std::vector<int32_t> next;
    for (const int32_t b : part) {
      const ArenaOffset offset = lowest_[b];
      if (offset < floor || offset > highest) continue;
      if (offset == floor && rank_[b] < last_rank) continue;
      if (offset < (b == ends_first ? second_end : end)) next.push_back(b);
    }
    std::sort(next.begin(), next.end(), [&](int32_t a, int32_t b) {
      const ArenaOffset x = lowest_[a], y = lowest_[b];
      return x != y ? x < y : rank_[a] < rank_[b];
    });
    std::vector<int32_t> rest(part.size() - 1);
    for (const int32_t b : next) {
      const size_t mark = raised_.size();
      bool above = false;
      if (place(b, above)) {
        std::copy_if(part.begin(), part.end(), rest.begin(), [b](int32_t other) { return other != b; });
        if (solve(rest, offset_[b], rank_[b])) return true;
      }
      withdraw(b, mark);
      if (nodes_left_ < 0 || !above) return false;
    }
    return false;
  }

  /// Places a buffer at its lowest offset. False if the rest no longer fits. above: does an unplaced buffer overlap it?
  bool place(int32_t b, bool& above) {
    const Buffer& buffer = at(b);
    const ArenaOffset offset = lowest_[b], end = offset + buffer.size;
    placed_[b] = 1;
    offset_[b] = offset;
    history_.push_back(b);
    for (const Sections::Range& range : sections_.ranges[b]) {
      for (int32_t s = range.begin; s < range.end; ++s) {
        left_[s] -= buffer.size;
        --unplaced_[s];
      }
    }
    int32_t begin = buffer.begin, last = buffer.end;
    for (const int32_t other : sections_.overlaps[b]) {
      if (placed_[other]) continue;
      above = true;
      ArenaOffset& lowest = lowest_[other];
      if (lowest >= end) continue;
      raised_.push_back({other, lowest});
      lowest = align_up(end, at(other).alignment);
      begin = std::min(begin, at(other).begin);
      last = std::max(last, at(other).end);
      if (lowest + at(other).written > capacity_) {
        // `above` is set here, so the caller goes on to try other buffers instead of this one.
        return false;
      }
    }
    for (int32_t s = begin; s < last; ++s) {
      if (!section_fits(static_cast<size_t>(s), offset)) return false;
    }
    return true;
  }

  /// Does the lowest unplaced buffer of the section leave room for all of them?
  bool section_fits(size_t s, ArenaOffset floor) {
    if (unplaced_[s] == 0) return true;
    const ArenaOffset highest = bound_ - left_[s];
    if (floor > highest) return false;
    const auto low = [&](int32_t b) { return !placed_[b] && lowest_[b] <= highest; };
    if (low(low_one_[s])) return true;
    for (const int32_t b : sections_.members[s]) {
      if (!low(b)) continue;
      low_one_[s] = b;
      return true;
    }
    return false;
  }

  /// Undoes the placement of b and of all buffers placed after it.
  void withdraw(int32_t b, size_t mark) {
    for (int32_t last = -1; last != b;) {
      last = history_.back();
      history_.pop_back();
      placed_[last] = 0;
      for (const Sections::Range& range : sections_.ranges[last]) {
        for (int32_t s = range.begin; s < range.end; ++s) {
          left_[s] += at(last).size;
          ++unplaced_[s];
        }
      }
    }
    for (; raised_.size() > mark; raised_.pop_back()) {
      lowest_[raised_.back().buffer] = raised_.back().lowest;
    }
  }

  Sections sections_;
  Bytes capacity_;
  Bytes bound_ = 0;  ///< capacity for rounded sizes
  std::vector<Buffer> buffers_;
  std::vector<int32_t> by_time_;
  std::unordered_set<uint64_t> failed_;  ///< parts; a part that failed under one rank fails under all

  Rank rank_by_ = Rank::kDurationFirst;
  int64_t nodes_left_ = 0;  ///< negative: the attempt was abandoned
  std::vector<ArenaOffset> lowest_, offset_;
  std::vector<char> placed_;
  std::vector<int32_t> rank_;
  std::vector<Bytes> left_;  ///< per section: bytes still to place
  std::vector<int32_t> unplaced_;
  std::vector<int32_t> low_one_;  ///< per section: the last buffer found that lets the section fit
  std::vector<int32_t> history_;
  struct Raised {
    int32_t buffer;
    ArenaOffset lowest;
  };
  std::vector<Raised> raised_;
};

}  // namespace

SearchOutcome search_placement(const Problem& problem, std::span<const int32_t> chosen, SearchLimits& limits,
                               std::vector<ArenaOffset>& offsets) {
  if (chosen.empty()) return SearchOutcome::kFound;
  Search search(problem, chosen, limits.capacity);
  return search.run(limits.nodes, offsets);
}

}  // namespace lowtide::engine
