#pragma once
/// Sorts unsigned numbers in place by their most significant byte first ("American flag": McIlroy, Bostic and McIlroy,
/// Engineering Radix Sort, 1993). Equal numbers are indistinguishable, so the result doesn't depend on threads.

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/thread_pool.h"

namespace lowtide::engine {

inline constexpr int64_t kFewNumbers = 512;  ///< up to this count comparing is cheaper than counting

/// The first number of each of 256 buckets, and the end of the last.
using BucketStarts = std::array<int64_t, 257>;

template <class Number>
BucketStarts part_by_byte(Number* numbers, int64_t count, int shift) {
  BucketStarts starts{};
  for (int64_t i = 0; i < count; ++i) ++starts[static_cast<size_t>(numbers[i] >> shift & 255) + 1];
  for (size_t b = 0; b < 256; ++b) starts[b + 1] += starts[b];
  std::array<int64_t, 256> next;
  std::copy(starts.begin(), starts.end() - 1, next.begin());
  for (size_t b = 0; b < 256; ++b) {
    while (next[b] < starts[b + 1]) {
      Number number = numbers[next[b]];
      for (auto home = static_cast<size_t>(number >> shift & 255); home != b;
           home = static_cast<size_t>(number >> shift & 255)) {
        std::swap(number, numbers[next[home]++]);
      }
      numbers[next[b]++] = number;
    }
  }
  return starts;
}

template <class Number>
void radix_sort_in_place(Number* numbers, int64_t count, int shift = 8 * (sizeof(Number) - 1)) {
  if (count <= kFewNumbers) {
    std::sort(numbers, numbers + count);
    return;
  }
  const BucketStarts starts = part_by_byte(numbers, count, shift);
  if (shift == 0) return;
  for (size_t b = 0; b < 256; ++b) radix_sort_in_place(numbers + starts[b], starts[b + 1] - starts[b], shift - 8);
}

/// Sorts one large array on several threads: partitions it by its first two bytes, then sorts one bucket per task. top:
/// position of the first byte, in bits.
template <class Number>
void radix_sort_in_place(Number* numbers, int64_t count, ThreadPool& pool, int top = 8 * (sizeof(Number) - 1)) {
  if (top < 16 || count <= int64_t{1} << 16) return radix_sort_in_place(numbers, count, top);
  const BucketStarts first = part_by_byte(numbers, count, top);
  // Floats of similar size share their first byte: the second separates them.
  pool.run(256, [&](int64_t b, int) {
    const auto at = static_cast<size_t>(b);
    if (first[at + 1] - first[at] <= count / 8) {
      radix_sort_in_place(numbers + first[at], first[at + 1] - first[at], top - 8);
    }
  });
  for (size_t b = 0; b < 256; ++b) {
    Number* bucket = numbers + first[b];
    const int64_t size = first[b + 1] - first[b];
    if (size <= count / 8) continue;
    const BucketStarts second = part_by_byte(bucket, size, top - 8);
    pool.run(256, [&](int64_t c, int) {
      const auto at = static_cast<size_t>(c);
      radix_sort_in_place(bucket + second[at], second[at + 1] - second[at], top - 16);
    });
  }
}

}  // namespace lowtide::engine
