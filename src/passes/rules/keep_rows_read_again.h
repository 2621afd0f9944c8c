#pragma once
/// Carries only those rows of an array that later iterations, or what follows the loop, still read.
///
///     while (i, p = f32[N,M]):                             while (i, a = row of p, b = row of p):
///       y = p[i - 1] * p[i - 2]                    ==>       y = a * b
///       p = dynamic-update-slice(p, y, i)                    a, b = y, a
///     z = p[N - 1]                                         z = a
///
/// Saves the other rows. A few rows become elements of the carry that exchange places; more of them form a ring buffer,
/// with iteration t's row at t mod their number.
///
/// Each iteration writes the next row, or the previous one; reads lag a constant number of iterations; what is read
/// after the loop was written by its last iterations. A row that no iteration has written yet is that of the carry's
/// initial value.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule of what stays.
/// Numerics: exact.
/// Not rewritten: carries of which any row might be read; rows that are 1/kLeastWindows of the array or more.
/// Tests: tests/text/passes/keep-rows-read-again/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kLeastWindows = 3;
inline constexpr int64_t kMostSeparateRows = 2;

Result<PassResult> keep_rows_read_again(Module& module);

}  // namespace lowtide::engine
