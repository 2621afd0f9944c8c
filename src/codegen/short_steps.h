#pragma once
/// Indices that move by a few elements from lane to lane: columns of narrow rows, every second element. The elements in
/// between are in the same cache lines, so whole registers are loaded and shuffled; a gather would load its elements
/// one by one.

#include <cstdint>

namespace lowtide::engine {

inline constexpr int64_t kLongestShortStep = 8;  ///< elements: as many registers are read for one

constexpr bool is_short_step(int64_t step) { return step > 1 && step <= kLongestShortStep; }

}  // namespace lowtide::engine
