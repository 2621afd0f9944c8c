#include "library/dot_by_tiles.h"

#include <algorithm>
#include <atomic>

#include "library/convert_row.h"
#include "library/copy_block.h"
#include "library/onednn.h"
#include "library/routines.h"

namespace lowtide::engine {
namespace {

/// Most rows of left, in all batches: with more, there are enough tiles of whole rows.
constexpr int64_t kFewRows = 192;
/// With fewer products in all, or less depth, copies cost more than a second thread saves.
constexpr int64_t kFewestProducts = 1 << 22, kLeastDepth = 32;
/// Columns of a tile of few rows: a share for each of kTiles tiles, from kFewestColumns to kMostColumns.
constexpr int64_t kFewestColumns = 128, kMostColumns = 256, kTiles = 4;
/// Depth of a call.
constexpr int64_t kDepth = 512;

/// Rows of a tile, columns and depth of a call for widened operands: each widened element is in many products, and
/// copies stay in the cache of a core. Fewer products aren't worth the scratch.
constexpr int64_t kWideRows = 384, kWideColumns = 384, kWideDepth = 256, kFewestWide = 1 << 27;
/// Scratch of all lanes.
constexpr int64_t kShared = int64_t{4} << 20, kWideShared = int64_t{8} << 20;

struct TileShape {
  int64_t rows = 0, columns = 0, depth = 0;  ///< depth: of a call
  ElementType operands = ElementType::kF32;  ///< type in which they are multiplied
  int64_t shared_bytes = 0;                  ///< scratch of all lanes
};

class DotByTiles : public LibraryRoutine {
 public:
  DotByTiles(const MatrixView& left, const MatrixView& right, ElementType result, bool adds, const TileShape& tile)
      : left_(left), right_(right), result_(result), adds_(adds), tile_(tile) {
    m_ = left.rows.extent;
    n_ = right.columns.extent;
    k_ = left.columns.extent;
    by_columns_ = !is_near(right.columns);
    row_tiles_ = (m_ + tile.rows - 1) / tile.rows;
    column_tiles_ = (n_ + tile.columns - 1) / tile.columns;
    if (!make_products()) return;
    const int64_t bytes = stored_bytes(tile.operands);
    left_at_ = align_scratch(left_at_);
    right_at_ = left_at_ + align_scratch(tile.rows * tile.depth * bytes);
    sums_at_ = right_at_ + align_scratch(tile.depth * tile.columns * bytes);
    lanes_ = Lanes(left.batch.extent * row_tiles_ * column_tiles_,
                   sums_at_ + tile.rows * tile.columns * stored_bytes(ElementType::kF32), tile.shared_bytes);
    usable_ = true;
  }

  bool usable() const { return usable_; }

  int64_t scratch_bytes() const override { return lanes_.scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    std::atomic<bool> failed = false;
    lanes_.run(pool, scratch, [&](int64_t task, std::byte* room) {
      const int64_t row = task % row_tiles_ * tile_.rows, above = task / row_tiles_;
      const int64_t batch = above / column_tiles_, column = above % column_tiles_ * tile_.columns;
      const IndexRange rows = {row, std::min(tile_.rows, m_ - row)};
      const IndexRange columns = {column, std::min(tile_.columns, n_ - column)};
      const bool done = result_ == ElementType::kF32
                            ? make_tile<float>(operands, results[0], batch, rows, columns, room)
                            : make_tile<BFloat16>(operands, results[0], batch, rows, columns, room);
      if (!done) failed = true;
    });
    return products_done(failed);
  }

 private:
  std::shared_ptr<const OneDnnMatmul>& product(int64_t rows, int64_t columns, int64_t depth) {
    return products_[rows < tile_.rows][columns < tile_.columns][depth < tile_.depth];
  }

  /// Do calls add to sums, which then need initial values?
  bool adds_sums() const { return adds_ || tile_.depth < k_; }

  /// One product for each combination of rows, columns and depth that occurs.
  bool make_products() {
    for (const int64_t rows : {tile_.rows, m_ % tile_.rows}) {
      for (const int64_t columns : {tile_.columns, n_ % tile_.columns}) {
        for (const int64_t depth : {tile_.depth, k_ % tile_.depth}) {
          if (rows == 0 || columns == 0 || depth == 0) continue;
          auto& made = product(rows, columns, depth);
          made =
              OneDnnMatmul::make({tile_.operands, ElementType::kF32, rows, columns, depth, by_columns_, adds_sums()});
          if (!made) return false;
          left_at_ = std::max(left_at_, made->scratch_bytes());
        }
      }
    }
    return true;
  }

  template <class T>
  bool make_tile(std::span<const void* const> operands, void* result, int64_t batch, IndexRange rows,
                 IndexRange columns, std::byte* room) {
    const int64_t at = (batch * m_ + rows.first) * n_ + columns.first;
    auto* sums = reinterpret_cast<float*>(room + sums_at_);
    for (int64_t row = 0; adds_sums() && row < rows.count; ++row) {
      float* to = sums + row * columns.count;
      if (adds_) {
        const T* from = static_cast<const T*>(operands[2]) + at + row * n_;
        convert_row(from, columns.count, to);
      } else {
        std::fill_n(to, columns.count, 0.0F);
      }
    }
    for (int64_t k = 0; k < k_; k += tile_.depth) {
      const IndexRange depth = {k, std::min(tile_.depth, k_ - k)};
      copy(left_.rows, left_.columns, operands[0], left_.batch.offset(batch), rows, depth, room + left_at_);
      const int64_t origin = right_.batch.offset(batch);
      if (by_columns_) {
        copy(right_.columns, right_.rows, operands[1], origin, columns, depth, room + right_at_);
      } else {
        copy(right_.rows, right_.columns, operands[1], origin, depth, columns, room + right_at_);
      }
      auto& multiplied = product(rows.count, columns.count, depth.count);
      if (!multiplied->run(room + left_at_, room + right_at_, sums, room)) return false;
    }
    for (int64_t row = 0; row < rows.count; ++row) {
      T* to = static_cast<T*>(result) + at + row * n_;
      convert_row(sums + row * columns.count, columns.count, to);
    }
    return true;
  }

  /// Copies an operand in the type in which it is multiplied.
  void copy(const StridedGroup& outer, const StridedGroup& inner, const void* operand, int64_t origin,
            IndexRange outer_range, IndexRange inner_range, std::byte* to) const {
    if (tile_.operands == left_.type) {
      copy_block(stored_bytes(left_.type), outer, inner, operand, origin, outer_range, inner_range, to);
    } else {
      widen_block(outer, inner, static_cast<const BFloat16*>(operand) + origin, outer_range, inner_range,
                  reinterpret_cast<float*>(to));
    }
  }

  MatrixView left_, right_;
  ElementType result_;
  bool adds_, by_columns_ = false, usable_ = false;
  TileShape tile_;
  int64_t m_ = 0, n_ = 0, k_ = 0;
  int64_t row_tiles_ = 0, column_tiles_ = 0;          ///< of a matrix
  int64_t left_at_ = 0, right_at_ = 0, sums_at_ = 0;  ///< offsets in a lane's scratch, after that of calls
  /// [are the rows the last ones?][the columns?][is the depth?]
  std::shared_ptr<const OneDnnMatmul> products_[2][2][2];
  Lanes lanes_;
};

/// Are the rows of all batches few, and the products enough?
bool has_few_rows(const MatrixView& left, const MatrixView& right) {
  const int64_t rows = left.rows.extent * left.batch.extent, n = right.columns.extent, depth = left.columns.extent;
  return rows <= kFewRows && left.batch.extent < kTiles && n >= 2 * kFewestColumns && depth >= kLeastDepth &&
         rows * n >= kFewestProducts / depth;
}

/// Are bf16 products of these shapes faster as f32 on this machine?
bool is_faster_wide(const MatrixView& left, const MatrixView& right) {
  if (left.type != ElementType::kBF16 || !multiplies_bf16_slowly()) return false;
  const int64_t m = left.rows.extent, n = right.columns.extent, depth = left.columns.extent;
  return m >= kWideRows / 2 && n >= kWideColumns / 2 && depth >= kWideDepth / 4 && m * n >= kFewestWide / depth;
}

}  // namespace

std::unique_ptr<LibraryRoutine> make_dot_by_tiles(const MatrixView& left, const MatrixView& right, ElementType result,
                                                  bool adds) {
  const int64_t m = left.rows.extent, n = right.columns.extent, k = left.columns.extent;
  if (!is_near(right.columns) && !is_near(right.rows)) return nullptr;
  TileShape tile;
  if (is_faster_wide(left, right)) {
    tile = {std::min(m, kWideRows), std::min(n, kWideColumns), std::min(k, kWideDepth), ElementType::kF32, kWideShared};
  } else if (has_few_rows(left, right)) {
    const int64_t share = (n / kTiles + 63) / 64 * 64;
    tile = {m, std::min(n, std::clamp(share, kFewestColumns, kMostColumns)), std::min(k, kDepth), left.type, kShared};
  } else {
    return nullptr;
  }
  auto dot = std::make_unique<DotByTiles>(left, right, result, adds, tile);
  if (!dot->usable()) return nullptr;
  return dot;
}

}  // namespace lowtide::engine
