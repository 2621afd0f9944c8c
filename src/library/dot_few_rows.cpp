#include "library/dot_few_rows.h"

#include <algorithm>
#include <atomic>

#include "library/copy_block.h"
#include "library/onednn.h"
#include "library/routines.h"

namespace lowtide::engine {
namespace {

/// Most rows of left: with more, transposing right pays off.
constexpr int64_t kMostFewRows = 128;
/// Least columns of right, and terms of a sum, per row of left: right, which isn't transposed, must be much larger than
/// the result, which is transposed instead.
constexpr int64_t kPerRow = 4;
/// Columns of the result per call: at most kTileColumns, and at least kFewestTileColumns if that gives several threads
/// tasks.
constexpr int64_t kTileColumns = 512, kFewestTileColumns = 128, kTasks = 4;
/// Fewer products than this in all are one task.
constexpr int64_t kProductsToShare = 1 << 18;
/// Scratch that concurrent calls may take for parts of the result; it wouldn't be needed if right were transposed.
constexpr int64_t kSharedBytes = int64_t{1} << 20;

class DotOfFewRows : public LibraryRoutine {
 public:
  DotOfFewRows(const MatrixView& left, const MatrixView& right, ElementType result)
      : left_(left), right_(right), m_(left.rows.extent), n_(right.columns.extent), k_(left.columns.extent) {
    bytes_ = stored_bytes(left.type);
    result_bytes_ = stored_bytes(result);
    copies_left_ = !is_dense(left.rows, left.columns);
    const bool is_shared = left.batch.extent < kTasks && m_ * n_ * k_ >= kProductsToShare;
    const int64_t share = is_shared ? (n_ / kTasks + 63) / 64 * 64 : n_;
    columns_ = std::min(n_, std::clamp(share, kFewestTileColumns, kTileColumns));
    tiles_ = (n_ + columns_ - 1) / columns_;
    const auto product = [&](int64_t columns) {
      return OneDnnMatmul::make({left.type, result, columns, m_, k_, /*right_by_columns=*/true});
    };
    whole_ = product(columns_);
    if (n_ % columns_ != 0) last_ = product(n_ % columns_);
    if (!usable()) return;
    result_at_ = align_scratch(std::max(whole_->scratch_bytes(), last_ ? last_->scratch_bytes() : 0));
    left_at_ = result_at_ + align_scratch(columns_ * m_ * result_bytes_);
    lane_bytes_ = left_at_ + (copies_left_ ? m_ * k_ * bytes_ : 0);
  }

  bool usable() const { return whole_ && (n_ % columns_ == 0 || last_); }

  int64_t scratch_bytes() const override { return lanes().scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    std::atomic<bool> failed = false;
    lanes().run(pool, scratch, [&](int64_t task, std::byte* room) {
      const int64_t batch = task / tiles_, column = task % tiles_ * columns_;
      const int64_t columns = std::min(columns_, n_ - column);
      const auto* right = static_cast<const std::byte*>(operands[1]);
      const std::byte* rows = right + (right_.batch.offset(batch) + column * k_) * bytes_;
      const auto& product = columns == columns_ ? whole_ : last_;
      if (!product->run(rows, left_of(operands[0], batch, room), room + result_at_, room)) failed = true;
      std::byte* to = static_cast<std::byte*>(results[0]) + (batch * m_ * n_ + column) * result_bytes_;
      copy_transposed(result_bytes_, room + result_at_, m_, m_, columns, to, n_);
    });
    return products_done(failed);
  }

 private:
  Lanes lanes() const { return {left_.batch.extent * tiles_, lane_bytes_, kSharedBytes}; }

  const std::byte* left_of(const void* operand, int64_t batch, std::byte* room) const {
    const int64_t origin = left_.batch.offset(batch);
    if (!copies_left_) return static_cast<const std::byte*>(operand) + origin * bytes_;
    copy_block(bytes_, left_.rows, left_.columns, operand, origin, {0, m_}, {0, k_}, room + left_at_);
    return room + left_at_;
  }

  MatrixView left_, right_;
  int64_t m_, n_, k_;
  int64_t bytes_ = 0, result_bytes_ = 0, columns_ = 0, tiles_ = 0;
  int64_t result_at_ = 0, left_at_ = 0, lane_bytes_ = 0;
  bool copies_left_ = false;
  std::shared_ptr<const OneDnnMatmul> whole_, last_;  ///< for whole tiles, and for the rest
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_dot_of_few_rows(const MatrixView& left, const MatrixView& right,
                                                     ElementType result) {
  const int64_t m = left.rows.extent, n = right.columns.extent, k = left.columns.extent;
  if (m < 2 || m > kMostFewRows || std::min(n, k) < kPerRow * m) return nullptr;
  if (is_dense(right.rows, right.columns) || !is_dense(right.columns, right.rows)) return nullptr;
  auto dot = std::make_unique<DotOfFewRows>(left, right, result);
  if (!dot->usable()) return nullptr;
  return dot;
}

}  // namespace lowtide::engine
