#pragma once
/// Which long sums are split, so that all threads take part, and into how many parts. The numbers depend on shapes
/// alone.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace lowtide::engine {

inline constexpr int64_t kFewResults = 64;    ///< results from which on there is work for all threads,
inline constexpr int64_t kFewColumns = 1024;  ///< the same if they are computed side by side, in vectors
/// Terms of each result from which on splitting pays where all terms can be read in memory order, if all results
/// together have so many.
inline constexpr int64_t kLongByRows = int64_t{1} << 12, kLongInAll = int64_t{1} << 18;

inline bool are_few(int64_t results, bool side_by_side) { return results < (side_by_side ? kFewColumns : kFewResults); }

inline constexpr int64_t kFewestParts = 16, kLikedParts = 256, kMostParts = 1024;
inline constexpr int64_t kLeastPart = 64;                   ///< terms of a part, if kFewestParts allow it
inline constexpr int64_t kMostPartSums = int64_t{1} << 16;  ///< elements of all parts together, likewise

/// How many parts are best for n terms, if each part has so many results.
inline int64_t liked_parts(int64_t n, int64_t results) {
  return std::clamp(std::min(n / kLeastPart, kMostPartSums / std::max<int64_t>(1, results)), kFewestParts, kLikedParts);
}

/// The allowed number of parts that divides n and is closest to `liked`; 0: none.
inline int64_t parts_of(int64_t n, int64_t liked) {
  int64_t best = 0;
  for (int64_t parts = kFewestParts; parts <= std::min(kMostParts, n); ++parts) {
    if (n % parts == 0 && std::abs(parts - liked) <= std::abs(best - liked)) best = parts;
  }
  return best;
}

}  // namespace lowtide::engine
