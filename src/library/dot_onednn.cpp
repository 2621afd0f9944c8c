#include "library/dot_onednn.h"

#include <algorithm>
#include <atomic>

#include "base/copy_bytes.h"
#include "library/convert_row.h"
#include "library/copy_block.h"
#include "library/dot_by_tiles.h"
#include "library/dot_few_rows.h"
#include "library/dot_few_tasks.h"
#include "library/dot_unpacked.h"
#include "library/onednn.h"

namespace lowtide::engine {
namespace {

/// Rows of a tile: many, to amortise what each call copies of the right operand, but at least kFewestTiles tiles.
constexpr int64_t kFewestTileRows = 128, kMostTileRows = 512, kFewestTiles = 4;
/// Depth for which left operands are copied at a time; the sums over these parts are then added up.
constexpr int64_t kCopiedDepth = 512;
/// With fewer products per matrix, a call costs more than it saves; for several matrices of f32, panels need no call.
constexpr int64_t kFewProducts = 1 << 15, kFewProductsOfMany = 1 << 18;
/// Right operands are copied for as many matrices at a time as fit here, but at least for one.
constexpr int64_t kCopiedBytes = int64_t{2} << 20;

/// From this many products on, a single tile is halved: a second thread then saves more than a second copy costs.
constexpr int64_t kProductsToHalve = 1 << 18, kFewestRowsOfHalf = 16;

int64_t rows_of_tile(int64_t m, int64_t batches, int64_t products) {
  if (batches == 1 && m <= kFewestTileRows && m >= 2 * kFewestRowsOfHalf && products >= kProductsToHalve) {
    return (m / 2 + kFewestRowsOfHalf - 1) / kFewestRowsOfHalf * kFewestRowsOfHalf;
  }
  const int64_t share = (m * batches / kFewestTiles + 63) / 64 * 64;
  const int64_t most = std::min(m, std::clamp(share, kFewestTileRows, kMostTileRows));
  if (batches * m > kFewestTiles * most) return most;
  // Few tiles are of one size, so that threads end together.
  const int64_t tiles = (m + most - 1) / most;
  return std::min(most, (m / tiles + kFewestRowsOfHalf - 1) / kFewestRowsOfHalf * kFewestRowsOfHalf);
}

class DotByOneDnn : public LibraryRoutine {
 public:
  DotByOneDnn(const MatrixView& left, const MatrixView& right, ElementType result, bool adds)
      : left_(left), right_(right), result_(result), adds_(adds) {
    m_ = left.rows.extent;
    n_ = right.columns.extent;
    k_ = left.columns.extent;
    bytes_ = stored_bytes(left.type);
    const int64_t batches = left.batch.extent;
    copies_left_ = !is_dense(left.rows, left.columns);
    by_columns_ = !is_dense(right.rows, right.columns) && is_near(right.rows);
    copies_right_ = by_columns_ ? !is_dense(right.columns, right.rows) : !is_dense(right.rows, right.columns);
    rows_ = rows_of_tile(m_, batches, m_ * n_ * k_);
    // Sums that are rounded only at the end are kept in scratch: worthwhile if they are smaller than the copies.
    const bool is_rounded = result == ElementType::kBF16;
    const bool is_deep = copies_left_ && !by_columns_ && (!is_rounded || k_ > 4 * n_);
    depth_ = is_deep ? std::min(k_, kCopiedDepth) : k_;
    sums_apart_ = is_rounded && depth_ < k_;
    tiles_ = (m_ + rows_ - 1) / rows_;
    usable_ = make_products();
    if (!usable_) return;
    group_ = copies_right_ ? std::clamp<int64_t>(kCopiedBytes / (n_ * k_ * bytes_), 1, batches) : batches;
    sums_at_ = call_bytes_ + align_scratch(copies_left_ ? rows_ * depth_ * bytes_ : 0);
    lane_bytes_ = sums_at_ + (sums_apart_ ? rows_ * n_ * stored_bytes(ElementType::kF32) : 0);
    copied_bytes_ = copies_right_ ? align_scratch(group_ * n_ * k_ * bytes_) : 0;
    copy_rows_ = by_columns_ ? n_ : k_;
  }

  bool usable() const { return usable_; }

  int64_t scratch_bytes() const override { return copied_bytes_ + Lanes(group_ * tiles_, lane_bytes_).scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    auto* copied = static_cast<std::byte*>(scratch);
    std::atomic<bool> failed = false;
    if (adds_) copy_bytes(results[0], operands[2], left_.batch.extent * m_ * n_ * stored_bytes(result_), pool);
    for (int64_t first = 0; first < left_.batch.extent; first += group_) {
      const int64_t batches = std::min(group_, left_.batch.extent - first);
      if (copies_right_) copy_right(operands[1], first, batches, copied, pool);
      const Lanes lanes(group_ * tiles_, lane_bytes_);
      lanes.run(pool, copied + copied_bytes_, [&](int64_t task, std::byte* room) {
        if (task >= batches * tiles_) return;
        const int64_t batch = first + task / tiles_, row = task % tiles_ * rows_;
        const std::byte* right = copies_right_
                                     ? copied + task / tiles_ * n_ * k_ * bytes_
                                     : static_cast<const std::byte*>(operands[1]) + right_.batch.offset(batch) * bytes_;
        std::byte* to = static_cast<std::byte*>(results[0]) + (batch * m_ + row) * n_ * stored_bytes(result_);
        if (!multiply(static_cast<const std::byte*>(operands[0]), batch, row, right, to, room)) failed = true;
      });
    }
    return products_done(failed);
  }

 private:
  /// One product for each combination of rows and depth that occurs.
  bool make_products() {
    for (const bool last_rows : {false, true}) {
      for (const bool last_depth : {false, true}) {
        const int64_t m = last_rows ? m_ % rows_ : rows_, k = last_depth ? k_ % depth_ : depth_;
        if (m == 0 || k == 0) continue;
        auto& product = products_[last_rows][last_depth];
        const ElementType sums = sums_apart_ ? ElementType::kF32 : result_;
        product = OneDnnMatmul::make({left_.type, sums, m, n_, k, by_columns_, adds_ || depth_ < k_});
        if (!product) return false;
        call_bytes_ = std::max(call_bytes_, align_scratch(product->scratch_bytes()));
      }
    }
    return true;
  }

  /// Computes one tile of the result.
  bool multiply(const std::byte* operand, int64_t batch, int64_t row, const std::byte* right, std::byte* to,
                std::byte* room) const {
    const int64_t rows = std::min(rows_, m_ - row), origin = left_.batch.offset(batch);
    if (!copies_left_) {
      const std::byte* left = operand + (origin + row * k_) * bytes_;
      return products_[rows < rows_][0]->run(left, right, to, room);
    }
    std::byte* block = room + call_bytes_;
    std::byte* sums = sums_apart_ ? room + sums_at_ : to;
    begin_sums(to, sums, rows * n_);
    for (int64_t k = 0; k < k_; k += depth_) {
      const int64_t depth = std::min(depth_, k_ - k);
      copy_block(bytes_, left_.rows, left_.columns, operand, origin, {row, rows}, {k, depth}, block);
      if (!products_[rows < rows_][depth < depth_]->run(block, right + k * n_ * bytes_, sums, room)) return false;
    }
    if (sums_apart_) {
      const auto* wide = reinterpret_cast<const float*>(sums);
      convert_row(wide, rows * n_, reinterpret_cast<BFloat16*>(to));
    }
    return true;
  }

  /// Initialises the sums to which a tile's products are added.
  void begin_sums(const std::byte* result, std::byte* sums, int64_t count) const {
    if (depth_ == k_ || (adds_ && !sums_apart_)) return;
    auto* wide = reinterpret_cast<float*>(sums);
    if (adds_) {
      const auto* given = reinterpret_cast<const BFloat16*>(result);
      convert_row(given, count, wide);
    } else {
      std::fill_n(wide, count, 0.0F);
    }
  }

  void copy_right(const void* operand, int64_t first, int64_t batches, std::byte* copied, ThreadPool& pool) const {
    const StridedGroup& outer = by_columns_ ? right_.columns : right_.rows;
    const StridedGroup& inner = by_columns_ ? right_.rows : right_.columns;
    constexpr int64_t kRowsAtOnce = 64;
    const int64_t parts = (copy_rows_ + kRowsAtOnce - 1) / kRowsAtOnce;
    pool.run(batches * parts, [&](int64_t task, int) {
      const int64_t batch = task / parts, row = task % parts * kRowsAtOnce;
      copy_block(bytes_, outer, inner, operand, right_.batch.offset(first + batch),
                 {row, std::min(kRowsAtOnce, copy_rows_ - row)}, {0, inner.extent},
                 copied + (batch * copy_rows_ + row) * inner.extent * bytes_);
    });
  }

  MatrixView left_, right_;
  ElementType result_;
  bool adds_;
  int64_t m_ = 0, n_ = 0, k_ = 0, bytes_ = 0, tiles_ = 0, group_ = 1, copy_rows_ = 0;
  int64_t rows_ = 0, depth_ = 0;  ///< of a call
  int64_t call_bytes_ = 0, sums_at_ = 0, lane_bytes_ = 0, copied_bytes_ = 0;
  bool copies_left_ = false, copies_right_ = false, by_columns_ = false, sums_apart_ = false, usable_ = false;
  std::shared_ptr<const OneDnnMatmul> products_[2][2];  ///< [are the rows the last ones?][is the depth?]
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_dot_by_onednn(const MatrixView& left, const MatrixView& right, ElementType result,
                                                   bool adds) {
  const bool floats = left.type == ElementType::kF32 && result == ElementType::kF32;
  const bool halves = left.type == ElementType::kBF16 && (result == ElementType::kBF16 || result == ElementType::kF32);
  const bool bytes = left.type == ElementType::kS8 && result == ElementType::kS32;
  if (left.type != right.type || (!floats && !halves && !bytes)) return nullptr;
  const int64_t m = left.rows.extent, n = right.columns.extent, k = left.columns.extent;
  const int64_t few = floats && left.batch.extent > 1 ? kFewProductsOfMany : kFewProducts;
  if (m == 0 || n < 2 || k < 2 || left.batch.extent == 0 || m * n < few / k) return nullptr;
  if (!adds) {
    if (auto few_rows = make_dot_of_few_rows(left, right, result)) return few_rows;
  }
  if (!bytes) {
    if (auto few_tasks = make_dot_of_few_tasks(left, right, result, adds)) return few_tasks;
    if (auto unpacked = make_dot_unpacked(left, right, result, adds)) return unpacked;
    if (auto by_tiles = make_dot_by_tiles(left, right, result, adds)) return by_tiles;
  }
  auto dot = std::make_unique<DotByOneDnn>(left, right, result, adds);
  if (!dot->usable()) return nullptr;
  return dot;
}

}  // namespace lowtide::engine
