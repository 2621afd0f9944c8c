#include "library/dot_by_columns.h"

#include <algorithm>
#include <atomic>

#include "library/convert.h"
#include "library/copy_block.h"
#include "library/onednn.h"
#include "library/routines.h"

namespace lowtide {
namespace {

/// Rows of left, of all batches: more make tiles enough.
constexpr int64_t kMostRows = 192;
/// With fewer, of the matrices or of one element, copies cost more than a second thread brings.
constexpr int64_t kFewestProducts = 1 << 22, kLeastDepth = 32;
/// Of a tile: at least as many, and so many that there are kTiles.
constexpr int64_t kFewestColumns = 128, kMostColumns = 256, kTiles = 4;
/// Of a call.
constexpr int64_t kDepth = 512;

class DotByColumns : public LibraryRoutine {
 public:
  DotByColumns(const MatrixView& left, const MatrixView& right, ElementType result, bool adds)
      : left_(left), right_(right), result_(result), adds_(adds) {
    m_ = left.rows.extent;
    n_ = right.columns.extent;
    k_ = left.columns.extent;
    bytes_ = stored_bytes(left.type);
    depth_ = std::min(k_, kDepth);
    by_columns_ = !is_near(right.columns);
    const int64_t share = (n_ / kTiles + 63) / 64 * 64;
    columns_ = std::min(n_, std::clamp(share, kFewestColumns, kMostColumns));
    tiles_ = (n_ + columns_ - 1) / columns_;
    if (!make_products()) return;
    left_at_ = align_scratch(left_at_);
    right_at_ = left_at_ + align_scratch(m_ * depth_ * bytes_);
    sums_at_ = right_at_ + align_scratch(depth_ * columns_ * bytes_);
    lanes_ = Lanes(left.batch.extent * tiles_, sums_at_ + m_ * columns_ * stored_bytes(ElementType::kF32));
    usable_ = true;
  }

  bool usable() const { return usable_; }

  int64_t scratch_bytes() const override { return lanes_.scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    std::atomic<bool> failed = false;
    lanes_.run(pool, scratch, [&](int64_t task, std::byte* room) {
      const int64_t batch = task / tiles_, column = task % tiles_ * columns_;
      const bool done = result_ == ElementType::kF32 ? make_tile<float>(operands, results[0], batch, column, room)
                                                     : make_tile<BFloat16>(operands, results[0], batch, column, room);
      if (!done) failed = true;
    });
    return products_done(failed);
  }

 private:
  std::unique_ptr<OneDnnMatmul>& product(int64_t columns, int64_t depth) {
    return products_[columns < columns_][depth < depth_];
  }

  /// Is there something to add to, when a call begins?
  bool adds_sums() const { return adds_ || depth_ < k_; }

  /// One for each number of columns and depth that occurs.
  bool make_products() {
    for (const int64_t columns : {columns_, n_ % columns_}) {
      for (const int64_t depth : {depth_, k_ % depth_}) {
        if (columns == 0 || depth == 0) continue;
        auto& made = product(columns, depth);
        made = OneDnnMatmul::make({left_.type, ElementType::kF32, m_, columns, depth, by_columns_, adds_sums()});
        if (!made) return false;
        left_at_ = std::max(left_at_, made->scratch_bytes());
      }
    }
    return true;
  }

  template <class T>
  bool make_tile(std::span<const void* const> operands, void* result, int64_t batch, int64_t column, std::byte* room) {
    const int64_t columns = std::min(columns_, n_ - column), at = batch * m_ * n_ + column;
    auto* sums = reinterpret_cast<float*>(room + sums_at_);
    for (int64_t row = 0; adds_sums() && row < m_; ++row) {
      float* to = sums + row * columns;
      if (adds_) {
        const T* from = static_cast<const T*>(operands[2]) + at + row * n_;
        std::transform(from, from + columns, to, to_sum<float, T>);
      } else {
        std::fill_n(to, columns, 0.0F);
      }
    }
    for (int64_t k = 0; k < k_; k += depth_) {
      const int64_t depth = std::min(depth_, k_ - k);
      copy_block(bytes_, left_.rows, left_.columns, operands[0], left_.batch.offset(batch), {0, m_}, {k, depth},
                 room + left_at_);
      copy_right(operands[1], right_.batch.offset(batch), {k, depth}, {column, columns}, room + right_at_);
      if (!product(columns, depth)->run(room + left_at_, room + right_at_, sums, room)) return false;
    }
    for (int64_t row = 0; row < m_; ++row) {
      T* to = static_cast<T*>(result) + at + row * n_;
      std::transform(sums + row * columns, sums + (row + 1) * columns, to, from_sum<T, float>);
    }
    return true;
  }

  void copy_right(const void* operand, int64_t origin, IndexRange depth, IndexRange columns, std::byte* to) const {
    if (by_columns_) {
      copy_block(bytes_, right_.columns, right_.rows, operand, origin, columns, depth, to);
    } else {
      copy_block(bytes_, right_.rows, right_.columns, operand, origin, depth, columns, to);
    }
  }

  MatrixView left_, right_;
  ElementType result_;
  bool adds_, by_columns_ = false, usable_ = false;
  int64_t m_ = 0, n_ = 0, k_ = 0, bytes_ = 0;
  int64_t columns_ = 0, depth_ = 0;                   ///< of a call
  int64_t tiles_ = 0;                                 ///< of a matrix
  int64_t left_at_ = 0, right_at_ = 0, sums_at_ = 0;  ///< in a lane's scratch, behind what calls take
  std::unique_ptr<OneDnnMatmul> products_[2][2];      ///< [are the columns the last ones?][is the depth?]
  Lanes lanes_;
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_dot_by_columns(const MatrixView& left, const MatrixView& right, ElementType result,
                                                    bool adds) {
  const int64_t rows = left.rows.extent * left.batch.extent, n = right.columns.extent;
  if (rows > kMostRows || left.batch.extent >= kTiles || n < 2 * kFewestColumns) return nullptr;
  const int64_t depth = left.columns.extent;
  if (depth < kLeastDepth || rows * n < kFewestProducts / depth) return nullptr;
  if (!is_near(right.columns) && !is_near(right.rows)) return nullptr;
  auto dot = std::make_unique<DotByColumns>(left, right, result, adds);
  if (!dot->usable()) return nullptr;
  return dot;
}

}  // namespace lowtide
