#include "library/few_columns.h"

#include <array>
#include <type_traits>

#include "library/vectors.h"

namespace lowtide::engine {
namespace {

/// A mask that keeps the last `kept` lanes.
template <class S>
const S* lane_mask(int64_t kept) {
  using Word = std::conditional_t<sizeof(S) == 4, uint32_t, uint64_t>;
  static constexpr auto kWords = [] {
    std::array<Word, 2 * static_cast<size_t>(kShortestRun<S>)> words{};
    for (size_t i = words.size() / 2; i < words.size(); ++i) words[i] = ~Word{};
    return words;
  }();
  return reinterpret_cast<const S*>(kWords.data()) + kept;
}

template <class V, class S>
LT_INLINE inline V masked(const V& vector, const V& mask) {
  using Word = std::conditional_t<sizeof(S) == 4, uint32_t, uint64_t>;
  using Words = Vector<Word, sizeof(V)>;
  return reinterpret_cast<V>(reinterpret_cast<Words>(vector) & reinterpret_cast<Words>(mask));
}

/// Adds the halves of a vector until one lane is left.
template <class S, int Bytes>
LT_INLINE inline S sum_of_lanes(const Vector<S, Bytes>& vector) {
  if constexpr (Bytes == sizeof(S)) {
    return vector[0];
  } else {
    S lanes[Bytes / sizeof(S)];
    std::memcpy(lanes, &vector, Bytes);
    const auto low = load_vector<Vector<S, Bytes / 2>>(lanes);
    const auto high = load_vector<Vector<S, Bytes / 2>>(lanes + Bytes / 2 / sizeof(S));
    return sum_of_lanes<S, Bytes / 2>(low + high);
  }
}

/// Computes kRows rows from `first` on.
template <class S, int Bytes, int kRows, int kColumns>
LT_INLINE inline void multiply(std::span<const RowRun<S>> runs, const S* right, int64_t depth, int64_t first,
                               const PanelSums<S>& sums, Joining joining) {
  using V = Vector<S, Bytes>;
  constexpr int64_t kLanes = VectorOf<S, Bytes>::kLanes;
  V sum[kRows][kColumns] = {};
  for (const RowRun<S>& run : runs) {
    const S* row[kRows];
    for (int i = 0; i < kRows; ++i) row[i] = run.rows[first + i];
    const auto add = [&](int64_t k, auto&& read) LT_INLINE {
      V column[kColumns];
      for (int j = 0; j < kColumns; ++j) column[j] = read(right + j * depth + k);
      for (int i = 0; i < kRows; ++i) {
        const V terms = read(row[i] + k);
        for (int j = 0; j < kColumns; ++j) sum[i][j] += terms * column[j];
      }
    };
    int64_t k = 0;
    for (; k + kLanes <= run.depth; k += kLanes) {
      add(k, [](const S* at) LT_INLINE { return load_vector<V>(at); });
    }
    if (const int64_t rest = run.depth - k; rest > 0) {
      // Reads the last lanes of the run, and masks those that were counted before, whatever they hold.
      const V mask = load_vector<V>(lane_mask<S>(rest) + (kShortestRun<S> - kLanes));
      add(run.depth - kLanes, [&](const S* at) LT_INLINE { return masked<V, S>(load_vector<V>(at), mask); });
    }
    right += run.depth;
  }
  for (int i = 0; i < kRows; ++i) {
    S* const to = sums.at + (first + i) * sums.stride;
    for (int j = 0; j < kColumns; ++j) {
      const S all = sum_of_lanes<S, Bytes>(sum[i][j]);
      to[j] = joining == Joining::kAlone ? all : to[j] + all;
    }
  }
}

}  // namespace

template <class S>
void multiply_few_columns(std::span<const RowRun<S>> runs, const S* right, int64_t depth, const PanelSums<S>& sums,
                          Joining joining) {
  with_vectors([&]<int Bytes>() LT_INLINE {
    // As many sums at once as fit the registers, in addition to the factors.
    constexpr int kRows = Bytes == 64 ? 6 : 2;
    for (int64_t first = 0; first < kPanelRows; first += kRows) {
      switch (sums.columns) {
        case 1: multiply<S, Bytes, kRows, 1>(runs, right, depth, first, sums, joining); break;
        case 2: multiply<S, Bytes, kRows, 2>(runs, right, depth, first, sums, joining); break;
        case 3: multiply<S, Bytes, kRows, 3>(runs, right, depth, first, sums, joining); break;
        default: multiply<S, Bytes, kRows, 4>(runs, right, depth, first, sums, joining);
      }
    }
  });
}

template void multiply_few_columns(std::span<const RowRun<float>>, const float*, int64_t, const PanelSums<float>&,
                                   Joining);
template void multiply_few_columns(std::span<const RowRun<double>>, const double*, int64_t, const PanelSums<double>&,
                                   Joining);

}  // namespace lowtide::engine
