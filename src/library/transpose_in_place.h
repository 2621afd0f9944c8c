#pragma once
/// The single moves of moves.h, each by an algorithm that suits its extents.

#include <algorithm>

#include "library/moves.h"

namespace lowtide::engine {

/// Units of at least this many bytes move one by one along the cycles of the permutation.
inline constexpr int64_t kLeastUnit = 64;
/// Matrices of at most this many bytes go through scratch as a whole: they fit a cache, and are small compared to all
/// that is moved.
inline int64_t near_matrix(const ArrayMove& move) { return std::min<int64_t>(int64_t{512} << 10, move.bytes() / 8); }

int64_t transpose_scratch(const ArrayMove& move);
double transpose_sweeps(const ArrayMove& move);
void transpose_in_place(const ArrayMove& move, std::byte* array, std::byte* scratch, ThreadPool& pool);
void reverse_in_place(const ArrayMove& move, std::byte* array, ThreadPool& pool);

}  // namespace lowtide::engine
