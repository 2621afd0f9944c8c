#include "library/dot_unpacked.h"

#include <algorithm>

#include "base/copy_bytes.h"
#include "library/copy_block.h"
#include "library/vectors.h"

namespace lowtide::engine {
namespace {

/// Most rows of left: with more, packing costs little compared to multiplying. f64 would be packed by gemm.cpp, which
/// is less fast.
template <class S>
constexpr int64_t kMostRows = sizeof(S) == 4 ? 96 : 256;
/// Most bytes of right with which any number of rows is allowed: it stays in cache while they read it.
template <class S>
constexpr int64_t kNearBytes = sizeof(S) == 4 ? 8192 : 32768;
constexpr int64_t kRowsOfTask = 128;
/// Rows of right that stay in cache while all rows of left are multiplied with them.
constexpr int64_t kDepth = 128;
/// Columns of a task, at most and at least. Matrices are divided into one task per thread: of narrower ones each would
/// read shorter stretches of right, and all of left once more.
constexpr int64_t kMostColumns = 256, kFewestColumns = 32;
/// With fewer products, other kernels are better.
constexpr int64_t kFewestProducts = 1 << 15;
constexpr int kVectors = 2;  ///< per row of right in registers

/// Strides of operands and sums: left(i, k) at [i * row + k * step]; rows of the others are `right` and `sums` apart.
struct Strides {
  int64_t row, step, right, sums;
};

/// A part of right, whose columns lie too far apart for the processor to foresee the next ones.
template <class S>
struct Part {
  const S* at;
  const S* next;  ///< the part that is read after it
};

/// Computes sums(i, j) of kRows rows and kWide vectors of columns, of `depth` terms; `begins`: `sums` holds nothing
/// yet. kFetches: meanwhile, the next part of right is fetched into the cache.
template <class S, int kBytes, int kRows, int kWide, bool kFetches>
LT_INLINE inline void multiply(const S* left, const Part<S>& part, S* sums, const Strides& strides, int64_t depth,
                               bool begins) {
  using Vector = lowtide::engine::Vector<S, kBytes>;
  constexpr int kLanes = VectorOf<S, kBytes>::kLanes;
  Vector sum[kRows * kWide] = {};
  for (int64_t k = 0; k < depth; ++k) {
    Vector row[kWide];
    LT_UNROLL for (int v = 0; v < kWide; ++v) row[v] = load_vector<Vector>(part.at + k * strides.right + v * kLanes);
    if constexpr (kFetches) {
      LT_UNROLL for (int v = 0; v < kWide; ++v) __builtin_prefetch(part.next + k * strides.right + v * kLanes);
    }
    LT_UNROLL for (int i = 0; i < kRows; ++i) {
      const S factor = left[i * strides.row + k * strides.step];
      LT_UNROLL for (int v = 0; v < kWide; ++v) sum[i * kWide + v] += factor * row[v];
    }
  }
  LT_UNROLL for (int i = 0; i < kRows; ++i) {
    LT_UNROLL for (int v = 0; v < kWide; ++v) {
      S* const to = sums + i * strides.sums + v * kLanes;
      Vector made = sum[i * kWide + v];
      if (!begins) made += load_vector<Vector>(to);
      store_vector(made, to);
    }
  }
}

/// All rows of left times kWide vectors of columns, as many rows at a time as leave registers for these vectors.
template <class S, int kBytes, int kWide>
LT_INLINE inline void multiply_rows_of(int64_t rows, const S* left, const Part<S>& part, S* sums,
                                       const Strides& strides, int64_t depth, bool begins) {
  constexpr int kMost = kBytes == 64 ? 8 : 6;
  const auto some = [&]<int kRows>(int64_t i) LT_INLINE {
    const auto each = [&]<bool kFetches>() LT_INLINE {
      multiply<S, kBytes, kRows, kWide, kFetches>(left + i * strides.row, part, sums + i * strides.sums, strides, depth,
                                                  begins);
    };
    i + kRows == rows ? each.template operator()<true>() : each.template operator()<false>();
  };
  int64_t i = 0;
  for (; i + kMost <= rows; i += kMost) some.template operator()<kMost>(i);
  if (kMost > 4 && i + 4 <= rows) some.template operator()<4>(i), i += 4;
  if (i + 2 <= rows) some.template operator()<2>(i), i += 2;
  if (i < rows) some.template operator()<1>(i);
}

template <class S>
class DotUnpacked : public LibraryRoutine {
 public:
  DotUnpacked(const MatrixView& left, const MatrixView& right, bool adds)
      : left_(left), right_(right), adds_(adds), m_(left.rows.extent), n_(right.columns.extent), k_(right.rows.extent) {
    rows_ = m_ <= kMostRows<S> ? m_ : kRowsOfTask;
    strides_ = {left.rows.stride(), left.columns.stride(), right.rows.stride(), n_};
  }

  int64_t scratch_bytes() const override { return 0; }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void*, ThreadPool& pool) override {
    const int64_t batches = left_.batch.extent, most_columns = columns_of_task(pool.threads());
    const int64_t column_tiles = (n_ + most_columns - 1) / most_columns;
    const int64_t tiles = column_tiles * ((m_ + rows_ - 1) / rows_);
    if (adds_) copy_bytes(results[0], operands[2], batches * m_ * n_ * static_cast<int64_t>(sizeof(S)), pool);
    pool.run(batches * tiles, [&](int64_t task, int) {
      const int64_t batch = task / tiles, tile = task % tiles;
      const int64_t row = tile / column_tiles * rows_, column = tile % column_tiles * most_columns;
      const S* const left = static_cast<const S*>(operands[0]) + left_.batch.offset(batch) + row * strides_.row;
      const S* const right = static_cast<const S*>(operands[1]) + right_.batch.offset(batch) + column;
      S* const sums = static_cast<S*>(results[0]) + (batch * m_ + row) * n_ + column;
      const int64_t rows = std::min(rows_, m_ - row), columns = std::min(most_columns, n_ - column);
      with_vectors([&]<int kBytes>() LT_INLINE { make_tile<kBytes>(left, right, sums, rows, columns); });
    });
    return {};
  }

 private:
  int64_t columns_of_task(int64_t threads) const {
    const int64_t tasks = rows_ < m_ ? 1 : std::max<int64_t>(1, threads / left_.batch.extent);
    const int64_t share = (n_ / tasks + kFewestColumns - 1) / kFewestColumns * kFewestColumns;
    return std::min(n_, std::clamp(share, kFewestColumns, kMostColumns));
  }

  template <int kBytes>
  LT_INLINE void make_tile(const S* left, const S* right, S* sums, int64_t rows, int64_t columns) const {
    constexpr int64_t kLanes = VectorOf<S, kBytes>::kLanes;
    for (int64_t k = 0; k < k_; k += kDepth) {
      const int64_t depth = std::min(kDepth, k_ - k);
      const S *const from = left + k * strides_.step, *const at = right + k * strides_.right;
      const bool begins = k == 0 && !adds_;
      const S* const below = k + kDepth < k_ ? at + kDepth * strides_.right : at;
      const auto part_at = [&](int64_t j, int64_t wide) {
        return Part<S>{at + j, j + wide < columns ? at + j + wide : below};
      };
      int64_t j = 0;
      for (constexpr int64_t kWide = kVectors * kLanes; j + kWide <= columns; j += kWide)
        multiply_rows_of<S, kBytes, kVectors>(rows, from, part_at(j, kWide), sums + j, strides_, depth, begins);
      for (; j < columns; j += kLanes)
        multiply_rows_of<S, kBytes, 1>(rows, from, part_at(j, kLanes), sums + j, strides_, depth, begins);
    }
  }

  MatrixView left_, right_;
  bool adds_;
  int64_t m_, n_, k_, rows_ = 0;
  Strides strides_ = {};
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_dot_unpacked(const MatrixView& left, const MatrixView& right, ElementType result,
                                                  bool adds) {
  const int64_t m = left.rows.extent, n = right.columns.extent, k = right.rows.extent;
  const bool is_plain = left.rows.is_one() && left.columns.is_one() && right.rows.is_one() && is_near(right.columns);
  if (left.type != result || right.type != result || !is_plain || m < 2 || n == 0 || k == 0 || left.batch.extent == 0)
    return nullptr;
  const auto of = [&]<class S>(S) -> std::unique_ptr<LibraryRoutine> {
    constexpr auto kElement = static_cast<int64_t>(sizeof(S));
    if (m > kMostRows<S> && k * n * kElement > kNearBytes<S>) return nullptr;
    if (n * kElement % kWidestVector != 0 || m * n < kFewestProducts / k) return nullptr;
    return std::make_unique<DotUnpacked<S>>(left, right, adds);
  };
  if (result == ElementType::kF32) return of(float{});
  if (result == ElementType::kF64) return of(double{});
  return nullptr;
}

}  // namespace lowtide::engine
