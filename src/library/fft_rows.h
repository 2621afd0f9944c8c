#pragma once
/// Loads elements into the lanes of LaneFft and stores them: separates and joins real and imaginary parts, and
/// transposes squares of elements. For code that runs inside with_vectors.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "library/fft_lanes.h"
#include "library/vectors.h"

namespace lowtide::engine {

/// Elements of a line: `step` is 2 if real and imaginary parts alternate, 1 if they are in separate arrays. An inverse
/// transform is a transform with the two exchanged.
template <class R>
struct LineView {
  R* re;
  R* im;
  int64_t step;

  LineView exchanged() const { return {im, re, step}; }
  LineView from(int64_t element) const { return {re + element * step, im + element * step, step}; }
};
template <class R>
LineView<R> pairs_at(R* first) {
  return {first, first + 1, 2};
}

namespace rows {

template <int kStep, int kFirst, class V, int... kLane>
LT_INLINE inline V every(const V& a, const V& b, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(a, b, (kFirst + kStep * kLane)...);
}
/// Interleaves the halves of a and b that begin at kFirst.
template <int kFirst, class V, int... kLane>
LT_INLINE inline V alternate(const V& a, const V& b, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(a, b, (kFirst + kLane / 2 + kLane % 2 * static_cast<int>(sizeof...(kLane)))...);
}
template <class V, int... kLane>
LT_INLINE inline V reversed(const V& a, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(a, a, (static_cast<int>(sizeof...(kLane)) - 1 - kLane)...);
}

}  // namespace rows

/// Reads as many pairs as a register has lanes.
template <class V, class R>
LT_INLINE inline void read_pairs(const R* from, V& re, V& im) {
  using All = std::make_integer_sequence<int, sizeof(V) / sizeof(R)>;
  const V a = load_vector<V>(from), b = load_vector<V>(from + sizeof(V) / sizeof(R));
  re = rows::every<2, 0>(a, b, All{});
  im = rows::every<2, 1>(a, b, All{});
}
template <class V, class R>
LT_INLINE inline void write_pairs(const V& re, const V& im, R* to) {
  using All = std::make_integer_sequence<int, sizeof(V) / sizeof(R)>;
  constexpr int kHalf = sizeof(V) / sizeof(R) / 2;
  store_vector(rows::alternate<0>(re, im, All{}), to);
  store_vector(rows::alternate<kHalf>(re, im, All{}), to + sizeof(V) / sizeof(R));
}

/// Loads elements from `lane` on into the lanes of a row, as many registers of them as there are before `count`.
template <int Bytes, class R>
LT_INLINE inline void read_lanes(const LineView<const R>& line, int64_t count, R* row, int64_t& lane) {
  using V = Vector<R, Bytes>;
  constexpr int64_t kLanes = LaneFft<R>::kLanes, kStep = VectorOf<R, Bytes>::kLanes;
  for (; lane + kStep <= count; lane += kStep) {
    if (line.step == 2) {
      V first, second;
      read_pairs<V>(std::min(line.re, line.im) + 2 * lane, first, second);
      store_vector(line.re < line.im ? first : second, row + lane);
      store_vector(line.re < line.im ? second : first, row + kLanes + lane);
    } else {
      store_vector(load_vector<V>(line.re + lane), row + lane);
      store_vector(load_vector<V>(line.im + lane), row + kLanes + lane);
    }
  }
}

/// Loads `count` elements into the lanes of a row, and zeros into the remaining lanes.
template <int Bytes, class R>
LT_INLINE inline void read_row(const LineView<const R>& line, int64_t count, R* row) {
  constexpr int64_t kLanes = LaneFft<R>::kLanes;
  int64_t lane = 0;
  read_lanes<Bytes>(line, count, row, lane);
  if constexpr (Bytes > 32) read_lanes<32>(line, count, row, lane);
  if constexpr (Bytes > 16) read_lanes<16>(line, count, row, lane);
  for (; lane < count; ++lane) {
    row[lane] = line.re[lane * line.step];
    row[kLanes + lane] = line.im[lane * line.step];
  }
  for (; lane < kLanes; ++lane) row[lane] = row[kLanes + lane] = R{};
}

/// Stores lanes of a row from `lane` on, times `scale`, as many registers of them as there are before `count`.
template <int Bytes, class R>
LT_INLINE inline void write_lanes(const R* row, int64_t count, R scale, const LineView<R>& line, int64_t& lane) {
  using V = Vector<R, Bytes>;
  constexpr int64_t kLanes = LaneFft<R>::kLanes, kStep = VectorOf<R, Bytes>::kLanes;
  const bool in_order = line.re < line.im;
  for (; lane + kStep <= count; lane += kStep) {
    const V re = scale * load_vector<V>(row + lane), im = scale * load_vector<V>(row + kLanes + lane);
    if (line.step == 2) {
      write_pairs<V>(in_order ? re : im, in_order ? im : re, std::min(line.re, line.im) + 2 * lane);
    } else {
      store_vector(re, line.re + lane);
      store_vector(im, line.im + lane);
    }
  }
}

/// Stores the first `count` lanes of a row, times `scale`.
template <int Bytes, class R>
LT_INLINE inline void write_row(const R* row, int64_t count, R scale, const LineView<R>& line) {
  constexpr int64_t kLanes = LaneFft<R>::kLanes;
  int64_t lane = 0;
  write_lanes<Bytes>(row, count, scale, line, lane);
  if constexpr (Bytes > 32) write_lanes<32>(row, count, scale, line, lane);
  if constexpr (Bytes > 16) write_lanes<16>(row, count, scale, line, lane);
  for (; lane < count; ++lane) {
    line.re[lane * line.step] = scale * row[lane];
    line.im[lane * line.step] = scale * row[kLanes + lane];
  }
}

/// Transposes kLanes rows of kLanes elements each: element j of row i goes to element i of row j. Only the first
/// `count` rows are written.
template <int Bytes, class R>
LT_INLINE inline void turn_rows(const R* from, int64_t count, R* to) {
  using V = Vector<R, Bytes>;
  constexpr int kStep = VectorOf<R, Bytes>::kLanes;
  constexpr int64_t kLanes = LaneFft<R>::kLanes, kRow = LaneFft<R>::kRow;
  for (int64_t part = 0; part < kRow; part += kLanes) {
    for (int64_t i = 0; i < kLanes; i += kStep) {
      for (int64_t j = 0; j < std::min(kLanes, count); j += kStep) {
        V square[kStep];
        LT_UNROLL for (int k = 0; k < kStep; ++k) square[k] = load_vector<V>(from + (i + k) * kRow + part + j);
        turn_square(square);
        LT_UNROLL for (int k = 0; k < kStep; ++k) {
          if (j + k < count) store_vector(square[k], to + (j + k) * kRow + part + i);
        }
      }
    }
  }
}

}  // namespace lowtide::engine
