#pragma once
/// Processes small matrices of a batch in the lanes of vectors: a vector holds one element of as many matrices as it
/// has lanes, so that every operation applies to all of these matrices, and no loop is too short to be worth a vector.
///
/// Everything here is inlined into a function for one instruction set (kernels.h); its vectors never cross a call.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "library/vectors.h"

namespace lowtide::engine {

/// Vectors whose elements are also written one by one, and that may lie at any address: scratch may be part of an array
/// of the caller's.
template <class S, int kBytes>
struct AliasedVectorOf {
  typedef S type [[gnu::vector_size(kBytes), gnu::may_alias, gnu::aligned(sizeof(S))]];
};

template <class S, int kBytes>
struct Across {
  using Vector = typename AliasedVectorOf<S, kBytes>::type;
  using Mask = decltype(Vector{} < Vector{});  ///< -1 for true; also holds counts
  static constexpr int kLanes = kBytes / static_cast<int>(sizeof(S));
  /// Sides of a tile whose sums stay in registers; only the widest vectors have 32 registers.
  static constexpr int kTile = kBytes == 64 ? 4 : 2;

  /// A matrix of vectors: (i, j) at [i * row + j * column]. Strides make it transposed or reversed.
  struct Matrix {
    Vector* at;
    int64_t row, column;
    [[gnu::always_inline]] Vector& operator()(int64_t i, int64_t j) const { return at[i * row + j * column]; }
    [[gnu::always_inline]] Matrix from(int64_t i, int64_t j) const { return {&(*this)(i, j), row, column}; }
    [[gnu::always_inline]] Matrix transposed() const { return {at, column, row}; }
    /// The last of `rows` rows becomes the first.
    [[gnu::always_inline]] Matrix upside_down(int64_t rows) const { return {&(*this)(rows - 1, 0), -row, column}; }
  };

  [[gnu::always_inline]] static Vector all(S x) { return x - Vector{}; }
  [[gnu::always_inline]] static Mask all_counts(int64_t x) {
    return static_cast<std::remove_reference_t<decltype(Mask{}[0])>>(x) - Mask{};
  }
  [[gnu::always_inline]] static Vector abs(Vector x) { return x < 0 ? -x : x; }
  [[gnu::always_inline]] static Vector max(Vector x, Vector y) { return x > y ? x : y; }
  [[gnu::always_inline]] static Vector sqrt(Vector x) {
    S lanes[kLanes];
    std::memcpy(lanes, &x, sizeof x);
    for (S& lane : lanes) lane = std::sqrt(lane);
    std::memcpy(&x, lanes, sizeof x);
    return x;
  }
  /// The largest power of two that isn't above x, which must be positive and finite; subnormals count as the least
  /// normal number.
  [[gnu::always_inline]] static Vector power_of_two(Vector x) {
    constexpr S kLeast = std::numeric_limits<S>::min(), kInfinite = std::numeric_limits<S>::infinity();
    const Vector normal = max(x, all(kLeast)), exponent = all(kInfinite);  // its bits are those of the exponent
    const Mask bits = reinterpret_cast<Mask>(normal) & reinterpret_cast<Mask>(exponent);
    return reinterpret_cast<Vector>(bits);
  }
  [[gnu::always_inline]] static bool any(Mask mask) {
    uint64_t words[kBytes / 8], found = 0;
    std::memcpy(words, &mask, sizeof mask);
    for (const uint64_t word : words) found |= word;
    return found != 0;
  }

  /// Copies element e of `count` matrices, `stride` apart, to vector e. Lanes without a matrix repeat the last one.
  [[gnu::always_inline]] static void load(const S* from, int64_t stride, int64_t elements, int64_t count, Vector* to) {
    if (elements < kLanes) {
      S* lanes = reinterpret_cast<S*>(to);
      for (int64_t l = 0; l < kLanes; ++l) {
        const S* matrix = from + (l < count ? l : count - 1) * stride;
        for (int64_t e = 0; e < elements; ++e) lanes[e * kLanes + l] = matrix[e];
      }
      return;
    }
    for (int64_t e = 0; e < elements; e += kLanes) {
      e = e + kLanes <= elements ? e : elements - kLanes;  // the remaining elements, and some once more
      lowtide::engine::Vector<S, kBytes> rows[kLanes];
      LT_UNROLL for (int64_t l = 0; l < kLanes; ++l) {
        std::memcpy(&rows[l], from + (l < count ? l : count - 1) * stride + e, sizeof(Vector));
      }
      turn_square(rows);
      LT_UNROLL for (int l = 0; l < kLanes; ++l) to[e + l] = rows[l];
    }
  }

  /// The inverse of load().
  [[gnu::always_inline]] static void store(const Vector* from, int64_t elements, int64_t count, S* to, int64_t stride) {
    if (elements < kLanes) {
      const S* lanes = reinterpret_cast<const S*>(from);
      for (int64_t l = 0; l < count; ++l) {
        for (int64_t e = 0; e < elements; ++e) to[l * stride + e] = lanes[e * kLanes + l];
      }
      return;
    }
    for (int64_t e = 0; e < elements; e += kLanes) {
      e = e + kLanes <= elements ? e : elements - kLanes;
      lowtide::engine::Vector<S, kBytes> rows[kLanes];
      LT_UNROLL for (int l = 0; l < kLanes; ++l) rows[l] = from[e + l];
      turn_square(rows);
      LT_UNROLL for (int64_t l = 0; l < kLanes; ++l) {
        if (l < count) std::memcpy(to + l * stride + e, &rows[l], sizeof(Vector));
      }
    }
  }

  /// Stores the count of each lane, one for each of `count` matrices.
  [[gnu::always_inline]] static void store_counts(Mask counts, int64_t count, int32_t* to, int64_t stride) {
    for (int64_t l = 0; l < count; ++l) to[l * stride] = static_cast<int32_t>(counts[l]);
  }

  /// c -= a b: c of rows x columns, over `depth`.
  [[gnu::always_inline]] static void subtract(Matrix c, Matrix a, Matrix b, int64_t rows, int64_t columns,
                                              int64_t depth) {
    if (depth == 0) return;
    int64_t i = 0;
    for (; i + kTile <= rows; i += kTile) subtract_rows<kTile>(c.from(i, 0), a.from(i, 0), b, columns, depth);
    for (; i < rows; ++i) subtract_rows<1>(c.from(i, 0), a.from(i, 0), b, columns, depth);
  }

 private:
  template <int kRows>
  [[gnu::always_inline]] static void subtract_rows(Matrix c, Matrix a, Matrix b, int64_t columns, int64_t depth) {
    int64_t j = 0;
    for (; j + kTile <= columns; j += kTile) subtract_tile<kRows, kTile>(c.from(0, j), a, b.from(0, j), depth);
    for (; j < columns; ++j) subtract_tile<kRows, 1>(c.from(0, j), a, b.from(0, j), depth);
  }

  template <int kRows, int kColumns>
  [[gnu::always_inline]] static void subtract_tile(Matrix c, Matrix a, Matrix b, int64_t depth) {
    constexpr int kSums = kRows * kColumns;
    Vector sum[kSums];
    LT_UNROLL for (int s = 0; s < kSums; ++s) sum[s] = c(s / kColumns, s % kColumns);
    for (int64_t k = 0; k < depth; ++k) {
      Vector left[kRows], right[kColumns];
      LT_UNROLL for (int i = 0; i < kRows; ++i) left[i] = a(i, k);
      LT_UNROLL for (int j = 0; j < kColumns; ++j) right[j] = b(k, j);
      LT_UNROLL for (int s = 0; s < kSums; ++s) sum[s] -= left[s / kColumns] * right[s % kColumns];
    }
    LT_UNROLL for (int s = 0; s < kSums; ++s) c(s / kColumns, s % kColumns) = sum[s];
  }
};

}  // namespace lowtide::engine
