#include "library/fft_line.h"

#include <atomic>
#include <cmath>
#include <limits>

namespace lowtide::engine {
namespace {

int64_t in_blocks(int64_t count, int64_t block) { return (count + block - 1) / block; }

}  // namespace

/// The number of columns of the matrix: the one that fills lanes both ways at the least cost. Columns and rows that
/// don't fit a first-level cache cost more with each doubling, and so does reading a line in strides, unless threads
/// share columns.
template <class R>
int64_t LineFft<R>::column_count(int64_t length, int64_t blocks) {
  const auto cost_of = [](int64_t count, int64_t extent) {
    constexpr int64_t kCached = 512;
    const double far = extent > kCached ? std::log2(static_cast<double>(extent) / kCached) : 0;
    return static_cast<double>(in_blocks(count, kLanes) * extent) * (fft_cost(extent) + far + 3);
  };
  constexpr double kJumps = 9;
  int64_t best = length;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int64_t height = 1; height <= length / height; ++height) {
    if (length % height != 0) continue;
    for (const int64_t width : {height, length / height}) {
      double cost = cost_of(width, length / width) + cost_of(length / width, width);
      if (blocks == 1 && width > kLanes) cost += kJumps * static_cast<double>(length) / static_cast<double>(kLanes);
      if (cost < best_cost) best = width, best_cost = cost;
    }
  }
  return best;
}

template <class R>
LineFft<R>::LineFft(int64_t length, int64_t blocks)
    : columns_(length / column_count(length, blocks)), rows_(column_count(length, blocks)), roots_(length) {
  for (int64_t k = 0; k < columns_.length(); ++k) {
    for (const bool is_imaginary : {false, true}) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const Wave root = roots_[k * lane % length];
        turns_.push_back(static_cast<R>(is_imaginary ? root.im : root.re));
      }
    }
  }
}

template <class R>
int64_t LineFft<R>::room_size(int64_t length, int64_t blocks) {
  const int64_t width = column_count(length, blocks), height = length / width;
  return (blocks * height + in_blocks(height, kLanes) * width) * kRow;
}

/// Transforms as many columns from `first` on as there are lanes, and transposes them to lanes of rows: a block of
/// kLanes rows is contiguous in the matrix.
template <class R>
void LineFft<R>::transform_columns(const LineView<const R>& from, int64_t first, R* block, R* matrix) const {
  const int64_t height = columns_.length(), width = rows_.length(), count = std::min(kLanes, width - first);
  with_vectors([&]<int Bytes>() LT_INLINE {
    for (int64_t j = 0; j < height; ++j) read_row<Bytes>(from.from(j * width + first), count, block + j * kRow);
  });
  columns_.run(block);
  with_vectors([&]<int Bytes>() LT_INLINE {
    using V = Vector<R, Bytes>;
    alignas(64) R square[kLanes * kRow];
    for (int64_t k = 0; k < height; k += kLanes) {
      for (int64_t i = 0; i < kLanes; ++i) {
        if (k + i >= height) {
          std::fill_n(square + i * kRow, kRow, R{});
          continue;
        }
        const R* row = block + columns_.place(k + i) * kRow;
        const R* turn = turns_.data() + (k + i) * kRow;
        // The rotation of a lane is that of the first lane times that of its distance to it.
        const Wave start = roots_[(k + i) * first % (height * width)];
        const R start_re = static_cast<R>(start.re), start_im = static_cast<R>(start.im);
        for (int64_t lane = 0; lane < kLanes; lane += VectorOf<R, Bytes>::kLanes) {
          const V a = load_vector<V>(turn + lane), b = load_vector<V>(turn + kLanes + lane);
          const V turn_re = a * start_re - b * start_im, turn_im = a * start_im + b * start_re;
          const V re = load_vector<V>(row + lane), im = load_vector<V>(row + kLanes + lane);
          store_vector<V>(re * turn_re - im * turn_im, square + i * kRow + lane);
          store_vector<V>(re * turn_im + im * turn_re, square + i * kRow + kLanes + lane);
        }
      }
      turn_rows<Bytes>(square, count, matrix + (k * width + first * kLanes) / kLanes * kRow);
    }
  });
}

template <class R>
void LineFft<R>::transform_rows(R* rows, int64_t first, R scale, const LineView<R>& to) const {
  const int64_t height = columns_.length(), width = rows_.length(), count = std::min(kLanes, height - first);
  rows_.run(rows);
  with_vectors([&]<int Bytes>() LT_INLINE {
    for (int64_t k = 0; k < width; ++k) {
      write_row<Bytes>(rows + rows_.place(k) * kRow, count, scale, to.from(first + k * height));
    }
  });
}

template <class R>
void LineFft<R>::run(const LineView<const R>& from, R scale, const LineView<R>& to, const FftRoom<R>& room) const {
  const int64_t height = columns_.length(), width = rows_.length();
  R* const matrix = room.at + room.blocks * height * kRow;
  const auto rows_of = [&](int64_t block) { return matrix + block * width * kRow; };
  if (!room.pool) {
    for (int64_t first = 0; first < width; first += kLanes) transform_columns(from, first, room.at, matrix);
    for (int64_t first = 0; first < height; first += kLanes) transform_rows(rows_of(first / kLanes), first, scale, to);
    return;
  }
  std::atomic<int64_t> next = 0;
  room.pool->run(room.blocks, [&](int64_t lane, int) {
    R* const block = room.at + lane * height * kRow;
    for (int64_t at = next++; at < in_blocks(width, kLanes); at = next++) {
      transform_columns(from, at * kLanes, block, matrix);
    }
  });
  room.pool->run(in_blocks(height, kLanes),
                 [&](int64_t at, int) { transform_rows(rows_of(at), at * kLanes, scale, to); });
}

template class LineFft<float>;
template class LineFft<double>;

}  // namespace lowtide::engine
