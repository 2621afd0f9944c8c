#pragma once
/// Sorts many short lines at once, each in a lane of registers: all go through the same network of comparisons.

#include <cstdint>

namespace lowtide::engine {

constexpr int64_t kLinesTogether = 16;
constexpr int64_t kLongestTogether = 2048;  ///< beyond it, more comparisons are made than sorting one line takes

/// numbers[count][kLinesTogether]: sorts each column, ascending, by merge exchange (Batcher 1968; Knuth, The Art of
/// Computer Programming, volume 3, algorithm 5.2.2M).
void sort_lines_together(uint64_t* numbers, int64_t count);

}  // namespace lowtide::engine
