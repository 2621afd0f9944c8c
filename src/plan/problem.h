#pragma once
/// The packing problem: buffers with lifetimes, and their offsets in one arena. Independent of programs.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace lowtide::engine {

using Bytes = int64_t;
using ArenaOffset = int64_t;  ///< bytes from the start of the arena
using Step = int32_t;         ///< position on a timeline

/// Alive in [born, dies). Empty if dies <= born.
struct Lifetime {
  Step born = 0, dies = 0;
  bool overlaps(const Lifetime& other) const { return born < other.dies && other.born < dies; }
};

/// Bytes needed during one or several lifetimes, always at the same offset.
struct PackBuffer {
  Bytes size = 0;
  std::vector<Lifetime> alive;  ///< sorted, disjoint; between them the bytes may hold something else
  Bytes alignment = 1;          ///< its offset is a multiple of this and of the problem's alignment
};

struct Problem {
  std::vector<PackBuffer> buffers;
  Bytes alignment = 1;  ///< every offset is a multiple of it
  Bytes alignment_of(const PackBuffer& buffer) const {
    return std::lcm(std::max<Bytes>(alignment, 1), std::max<Bytes>(buffer.alignment, 1));
  }
};

struct Placement {
  std::vector<ArenaOffset> offsets;  ///< one per buffer
  Bytes height = 0;                  ///< bytes of the arena
  bool searched = false;             ///< greedy orders were not enough
  bool operator==(const Placement&) const = default;
};

/// The largest sum of sizes alive at one step: no placement is lower.
Bytes load_of(const Problem& problem);

}  // namespace lowtide::engine
