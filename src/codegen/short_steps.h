#pragma once
/// Indices that move by a few elements from lane to lane: columns of narrow rows, every second element. All that lies
/// between is in the same cache lines, so whole registers are read and sorted out by shuffles; a gather would take
/// its elements one by one.

#include <cstdint>

namespace lowtide::engine {

inline constexpr int64_t kLongestShortStep = 8;  ///< elements: as many registers are read for one

constexpr bool is_short_step(int64_t step) { return step > 1 && step <= kLongestShortStep; }

}  // namespace lowtide::engine
