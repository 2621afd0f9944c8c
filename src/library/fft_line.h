#pragma once
/// Discrete Fourier transforms of one line, whose elements are beside each other: as columns and rows of a matrix
/// (Gentleman and Sande, 1966; Bailey, 1990), so that lanes are filled by elements of the line itself. A line of any
/// length takes room for itself, and is read and written once.

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "library/fft_lanes.h"
#include "library/fft_roots.h"
#include "library/fft_rows.h"

namespace lowtide::engine {

/// Scratch of a transform, and who shares the work: a pool's threads, up to `blocks` of them, or the caller alone.
template <class R>
struct FftRoom {
  R* at;  ///< read fastest where it is aligned to 64 bytes
  ThreadPool* pool = nullptr;
  int64_t blocks = 1;
};

/// R: float or double, in which it is computed.
template <class R>
class LineFft {
 public:
  static constexpr int64_t kLanes = LaneFft<R>::kLanes, kRow = LaneFft<R>::kRow;

  /// length: a product of factors (fft_factors), or 1. blocks: how many of columns are transformed at once, 1 where
  /// nobody shares the work.
  LineFft(int64_t length, int64_t blocks);

  int64_t length() const { return columns_.length() * rows_.length(); }
  /// Numbers that a room has: the blocks that columns are transformed in, and the matrix.
  static int64_t room_size(int64_t length, int64_t blocks);

  /// X[k] = scale * sum over j of x[j] exp(-2 pi i j k / length). `to` may be `from`.
  void run(const LineView<const R>& from, R scale, const LineView<R>& to, const FftRoom<R>& room) const;

 private:
  static int64_t column_count(int64_t length, int64_t blocks);
  void transform_columns(const LineView<const R>& from, int64_t first, R* block, R* matrix) const;
  void transform_rows(R* rows, int64_t first, R scale, const LineView<R>& to) const;

  LaneFft<R> columns_, rows_;  ///< what a column, and what a row is transformed by
  std::vector<R> turns_;       ///< exp(-2 pi i k l / length), for each k below the height of a column the lanes l
  Roots roots_;
};

}  // namespace lowtide::engine
