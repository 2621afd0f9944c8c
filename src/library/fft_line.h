#pragma once
/// Discrete Fourier transforms of one line of contiguous elements, taken as the columns and rows of a matrix (Gentleman
/// and Sande, 1966; Bailey, 1990), so that elements of the line itself fill the lanes. A line of any length needs
/// scratch of its own size, and is read and written once.

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "library/fft_lanes.h"
#include "library/fft_roots.h"
#include "library/fft_rows.h"

namespace lowtide::engine {

/// Scratch of a transform, and who computes it: up to `blocks` threads of a pool, or the caller alone.
template <class R>
struct FftRoom {
  R* at;  ///< fastest if aligned to 64 bytes
  ThreadPool* pool = nullptr;
  int64_t blocks = 1;
};

/// R: float or double, the type of the computation.
template <class R>
class LineFft {
 public:
  static constexpr int64_t kLanes = LaneFft<R>::kLanes, kRow = LaneFft<R>::kRow;

  /// length: a product of factors (fft_factors), or 1. blocks: how many blocks of columns are transformed at once, 1 if
  /// one thread does all the work.
  LineFft(int64_t length, int64_t blocks);

  int64_t length() const { return columns_.length() * rows_.length(); }
  /// Size of `room`, in elements: the blocks in which columns are transformed, and the matrix.
  static int64_t room_size(int64_t length, int64_t blocks);

  /// X[k] = scale * sum over j of x[j] exp(-2 pi i j k / length). `to` may be `from`.
  void run(const LineView<const R>& from, R scale, const LineView<R>& to, const FftRoom<R>& room) const;

 private:
  static int64_t column_count(int64_t length, int64_t blocks);
  void transform_columns(const LineView<const R>& from, int64_t first, R* block, R* matrix) const;
  void transform_rows(R* rows, int64_t first, R scale, const LineView<R>& to) const;

  LaneFft<R> columns_, rows_;  ///< the transforms of a column and of a row
  std::vector<R> turns_;       ///< exp(-2 pi i k l / length), for each k below the height of a column and each lane l
  Roots roots_;
};

}  // namespace lowtide::engine
