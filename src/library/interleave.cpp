#include "library/interleave.h"

#include <cstring>
#include <utility>

namespace lowtide::engine {
namespace {

static_assert(kPanelRows == 6, "rows are interleaved as three pairs");

/// Vectors of `kBytes`, as registers have them.
template <int64_t kBytes>
struct Shuffled {
  typedef float Vector [[gnu::vector_size(kBytes)]];
  typedef int64_t Wide [[gnu::vector_size(kBytes)]];
  static constexpr int64_t kLanes = kBytes / static_cast<int64_t>(sizeof(float)), kPairs = kLanes / 2;
  static constexpr auto kEachLane = std::make_integer_sequence<int64_t, kLanes>();
  static constexpr auto kEachPair = std::make_integer_sequence<int64_t, kPairs>();

  /// Pairs (a0, b0, a1, b1, ..) of two rows, from a lane on.
  template <int64_t kFrom, int64_t... kLane>
  [[gnu::always_inline]] static inline void pairs(const Vector* row, Wide& to,
                                                  std::integer_sequence<int64_t, kLane...>) {
    const Vector both = __builtin_shufflevector(row[0], row[1], (kFrom + kLane / 2 + kLane % 2 * kLanes)...);
    std::memcpy(&to, &both, sizeof to);
  }

  /// Vector `kPart` of three in which pairs of three pairs of rows follow each other.
  template <int64_t kPart, int64_t... kPair>
  [[gnu::always_inline]] static inline void three(const Wide* pair, float* to,
                                                  std::integer_sequence<int64_t, kPair...>) {
    constexpr int64_t kFirst = kPart * kPairs;
    const Wide two =
        __builtin_shufflevector(pair[0], pair[1], ((kFirst + kPair) / 3 + ((kFirst + kPair) % 3 == 1 ? kPairs : 0))...);
    const Wide all =
        __builtin_shufflevector(two, pair[2], ((kFirst + kPair) % 3 == 2 ? kPairs + (kFirst + kPair) / 3 : kPair)...);
    std::memcpy(to + kPart * kLanes, &all, sizeof all);
  }

  template <int64_t kFrom>
  [[gnu::always_inline]] static inline void put_half(const Vector* row, float* to) {
    Wide pair[3];
    for (int64_t p = 0; p < 3; ++p) pairs<kFrom>(row + 2 * p, pair[p], kEachLane);
    three<0>(pair, to, kEachPair);
    three<1>(pair, to, kEachPair);
    three<2>(pair, to, kEachPair);
  }

  [[gnu::always_inline]] static inline void all(const std::array<const float*, kPanelRows>& rows, int64_t run,
                                                float* to) {
    int64_t k = 0;
    for (; k + kLanes <= run; k += kLanes) {
      Vector row[kPanelRows];
      for (size_t i = 0; i < rows.size(); ++i) std::memcpy(&row[i], rows[i] + k, sizeof(Vector));
      put_half<0>(row, to + k * kPanelRows);
      put_half<kPairs>(row, to + (k + kPairs) * kPanelRows);
    }
    for (; k < run; ++k) {
      for (size_t i = 0; i < rows.size(); ++i) to[k * kPanelRows + static_cast<int64_t>(i)] = rows[i][k];
    }
  }
};

using Interleave = void (*)(const std::array<const float*, kPanelRows>&, int64_t, float*);

[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw")]] void interleave_avx512(
    const std::array<const float*, kPanelRows>& rows, int64_t run, float* to) {
  Shuffled<64>::all(rows, run, to);
}

[[gnu::target("avx2,fma")]] void interleave_avx2(const std::array<const float*, kPanelRows>& rows, int64_t run,
                                                 float* to) {
  Shuffled<32>::all(rows, run, to);
}

void interleave_plain(const std::array<const float*, kPanelRows>& rows, int64_t run, float* to) {
  Shuffled<16>::all(rows, run, to);
}

Interleave pick() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    return interleave_avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return interleave_avx2;
  return interleave_plain;
}

}  // namespace

void interleave(const std::array<const float*, kPanelRows>& rows, int64_t run, float* to) {
  static const Interleave kBest = pick();
  kBest(rows, run, to);
}

}  // namespace lowtide::engine
