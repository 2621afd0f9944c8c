#pragma once
/// Sorts unsigned numbers in place by their most significant byte first ("American flag": McIlroy, Bostic and McIlroy,
/// Engineering Radix Sort, 1993). Equal numbers are indistinguishable, so the result doesn't depend on threads.

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/thread_pool.h"
#include "library/order_key.h"

namespace lowtide::engine {

inline constexpr int64_t kFewNumbers = 512;  ///< up to this count comparing is cheaper than counting

/// An array of numbers.
template <class T>
struct NumbersAlone {
  using Number = T;

  T* numbers;

  Number operator[](int64_t i) const { return numbers[i]; }
  void put(int64_t i, Number number) const { numbers[i] = number; }
  NumbersAlone from(int64_t i) const { return {numbers + i}; }
  void sort_few(int64_t count) const { std::sort(numbers, numbers + count); }
};

/// Two arrays, whose elements are the upper and the lower parts of numbers: keys, and the places that they had.
template <class Key>
struct KeysAndPlaces {
  using Number = KeyAt<Key>;

  Key* keys;
  uint32_t* places;

  Number operator[](int64_t i) const { return Number{keys[i]} << 32 | places[i]; }
  void put(int64_t i, Number number) const {
    keys[i] = static_cast<Key>(number >> 32);
    places[i] = static_cast<uint32_t>(number);
  }
  KeysAndPlaces from(int64_t i) const { return {keys + i, places + i}; }
  void sort_few(int64_t count) const {
    std::array<Number, kFewNumbers> few;
    for (int64_t i = 0; i < count; ++i) few[static_cast<size_t>(i)] = (*this)[i];
    std::sort(few.begin(), few.begin() + count);
    for (int64_t i = 0; i < count; ++i) put(i, few[static_cast<size_t>(i)]);
  }
};

/// The first number of each of 256 buckets, and the end of the last.
using BucketStarts = std::array<int64_t, 257>;

template <class Numbers>
BucketStarts part_by_byte(Numbers numbers, int64_t count, int shift) {
  using Number = typename Numbers::Number;
  const auto bucket_of = [shift](Number number) { return static_cast<size_t>(number >> shift & 255); };
  BucketStarts starts{};
  for (int64_t i = 0; i < count; ++i) ++starts[bucket_of(numbers[i]) + 1];
  const bool is_one = std::ranges::find(starts, count) != starts.end();
  for (size_t b = 0; b < 256; ++b) starts[b + 1] += starts[b];
  if (is_one) return starts;
  std::array<int64_t, 256> next;
  std::copy(starts.begin(), starts.end() - 1, next.begin());
  for (size_t b = 0; b < 256; ++b) {
    while (next[b] < starts[b + 1]) {
      Number number = numbers[next[b]];
      for (size_t home = bucket_of(number); home != b; home = bucket_of(number)) {
        const Number other = numbers[next[home]];
        numbers.put(next[home]++, number);
        number = other;
      }
      numbers.put(next[b]++, number);
    }
  }
  return starts;
}

template <class Numbers>
void radix_sort_in_place(Numbers numbers, int64_t count, int shift) {
  if (count <= kFewNumbers) return numbers.sort_few(count);
  const BucketStarts starts = part_by_byte(numbers, count, shift);
  if (shift == 0) return;
  for (size_t b = 0; b < 256; ++b) radix_sort_in_place(numbers.from(starts[b]), starts[b + 1] - starts[b], shift - 8);
}

/// Sorts one large array on the threads of a pool, if there is one: partitions it by its first two bytes, then sorts
/// one bucket per task. top: position of the first byte, in bits.
template <class Numbers>
void radix_sort_in_place(Numbers numbers, int64_t count, int top, ThreadPool* pool) {
  if (pool == nullptr || top < 16 || count <= int64_t{1} << 16) return radix_sort_in_place(numbers, count, top);
  const BucketStarts first = part_by_byte(numbers, count, top);
  // Floats of similar size share their first byte: the second separates them.
  pool->run(256, [&](int64_t b, int) {
    const auto at = static_cast<size_t>(b);
    if (first[at + 1] - first[at] <= count / 8) {
      radix_sort_in_place(numbers.from(first[at]), first[at + 1] - first[at], top - 8);
    }
  });
  for (size_t b = 0; b < 256; ++b) {
    const Numbers bucket = numbers.from(first[b]);
    const int64_t size = first[b + 1] - first[b];
    if (size <= count / 8) continue;
    const BucketStarts second = part_by_byte(bucket, size, top - 8);
    pool->run(256, [&](int64_t c, int) {
      const auto at = static_cast<size_t>(c);
      radix_sort_in_place(bucket.from(second[at]), second[at + 1] - second[at], top - 16);
    });
  }
}

}  // namespace lowtide::engine
