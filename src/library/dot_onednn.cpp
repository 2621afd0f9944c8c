#include "library/dot_onednn.h"

#include <atomic>
#include <cstring>

#include "library/onednn.h"

namespace lowtide {
namespace {

/// Rows of a tile: enough to make up for what each call copies of the right
/// operand.
constexpr int64_t kTileRows = 128;
/// Below this many products per matrix a call costs more than it saves.
constexpr int64_t kFewProducts = 1 << 15;
/// Copies of right operands are made for as many matrices at a time as fit
/// here, and for one at least.
constexpr int64_t kCopiedBytes = int64_t{2} << 20;

bool is_near(const StridedGroup& group) { return group.is_one() && (group.stride() == 1 || group.extent == 1); }

/// Is [outer, inner] one block of memory?
bool is_dense(const StridedGroup& outer, const StridedGroup& inner) {
  return is_near(inner) && outer.is_one() && (outer.extent == 1 || outer.stride() == inner.extent);
}

/// Outer indices [first, first + count) and all inner ones, as a dense block.
template <class Element>
void copy_block(const StridedGroup& outer, const StridedGroup& inner, const void* data, int64_t origin, int64_t first,
                int64_t count, std::byte* block) {
  const auto* from = static_cast<const Element*>(data) + origin;
  auto* to = reinterpret_cast<Element*>(block);
  for (int64_t i = first; i < first + count; ++i, to += inner.extent) {
    const Element* row = from + outer.offset(i);
    if (is_near(inner)) {
      std::memcpy(to, row, sizeof(Element) * static_cast<size_t>(inner.extent));
    } else if (inner.is_one()) {
      for (int64_t j = 0; j < inner.extent; ++j) to[j] = row[j * inner.stride()];
    } else {
      for (int64_t j = 0; j < inner.extent; ++j) to[j] = row[inner.offset(j)];
    }
  }
}

void copy_block(ElementType type, const StridedGroup& outer, const StridedGroup& inner, const void* data,
                int64_t origin, int64_t first, int64_t count, std::byte* block) {
  if (type == ElementType::kF32) {
    copy_block<uint32_t>(outer, inner, data, origin, first, count, block);
  } else {
    copy_block<uint16_t>(outer, inner, data, origin, first, count, block);
  }
}

class DotByOneDnn : public LibraryRoutine {
 public:
  DotByOneDnn(const MatrixView& left, const MatrixView& right, ElementType result, bool adds)
      : left_(left), right_(right), result_(result), adds_(adds) {
    m_ = left.rows.extent;
    n_ = right.columns.extent;
    k_ = left.columns.extent;
    bytes_ = stored_bytes(left.type);
    copies_left_ = !is_dense(left.rows, left.columns);
    by_columns_ = !is_dense(right.rows, right.columns) && is_near(right.rows);
    copies_right_ = by_columns_ ? !is_dense(right.columns, right.rows) : !is_dense(right.rows, right.columns);
    if (m_ >= kTileRows) whole_ = OneDnnMatmul::make({left.type, result, kTileRows, n_, k_, by_columns_, adds});
    if (m_ % kTileRows != 0) last_ = OneDnnMatmul::make({left.type, result, m_ % kTileRows, n_, k_, by_columns_, adds});
    tiles_ = (m_ + kTileRows - 1) / kTileRows;
    const int64_t batches = left.batch.extent;
    group_ = copies_right_ ? std::clamp<int64_t>(kCopiedBytes / (n_ * k_ * bytes_), 1, batches) : batches;
    if (!usable()) return;
    call_bytes_ = align_scratch(std::max(whole_ ? whole_->scratch_bytes() : 0, last_ ? last_->scratch_bytes() : 0));
    const int64_t left_bytes = copies_left_ ? std::min(m_, kTileRows) * k_ * bytes_ : 0;
    lane_bytes_ = call_bytes_ + left_bytes;
    copied_bytes_ = copies_right_ ? align_scratch(group_ * n_ * k_ * bytes_) : 0;
    copy_rows_ = by_columns_ ? n_ : k_;
  }

  bool usable() const { return (m_ < kTileRows || whole_) && (m_ % kTileRows == 0 || last_); }

  int64_t scratch_bytes() const override { return copied_bytes_ + Lanes(group_ * tiles_, lane_bytes_).scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    auto* copied = static_cast<std::byte*>(scratch);
    std::atomic<bool> failed = false;
    if (adds_) begin_with(operands[2], results[0], left_.batch.extent * m_ * n_ * stored_bytes(result_));
    for (int64_t first = 0; first < left_.batch.extent; first += group_) {
      const int64_t batches = std::min(group_, left_.batch.extent - first);
      if (copies_right_) copy_right(operands[1], first, batches, copied, pool);
      const Lanes lanes(group_ * tiles_, lane_bytes_);
      lanes.run(pool, copied + copied_bytes_, [&](int64_t task, std::byte* room) {
        if (task >= batches * tiles_) return;
        const int64_t batch = first + task / tiles_, row = task % tiles_ * kTileRows;
        const int64_t rows = std::min(kTileRows, m_ - row);
        const std::byte* right = copies_right_
                                     ? copied + task / tiles_ * n_ * k_ * bytes_
                                     : static_cast<const std::byte*>(operands[1]) + right_.batch.offset(batch) * bytes_;
        const std::byte* left = static_cast<const std::byte*>(operands[0]) + left_.batch.offset(batch) * bytes_;
        if (copies_left_) {
          copy_block(left_.type, left_.rows, left_.columns, operands[0], left_.batch.offset(batch), row, rows,
                     room + call_bytes_);
          left = room + call_bytes_;
        } else {
          left += row * k_ * bytes_;
        }
        std::byte* to = static_cast<std::byte*>(results[0]) + (batch * m_ + row) * n_ * stored_bytes(result_);
        if (!(rows == kTileRows ? whole_ : last_)->run(left, right, to, room)) failed = true;
      });
    }
    if (failed) return {Fault::kInternal, "oneDNN refused a matrix product that it had accepted"};
    return {};
  }

 private:
  void copy_right(const void* operand, int64_t first, int64_t batches, std::byte* copied, ThreadPool& pool) const {
    const StridedGroup& outer = by_columns_ ? right_.columns : right_.rows;
    const StridedGroup& inner = by_columns_ ? right_.rows : right_.columns;
    constexpr int64_t kRowsAtOnce = 64;
    const int64_t parts = (copy_rows_ + kRowsAtOnce - 1) / kRowsAtOnce;
    pool.run(batches * parts, [&](int64_t task, int) {
      const int64_t batch = task / parts, row = task % parts * kRowsAtOnce;
      copy_block(right_.type, outer, inner, operand, right_.batch.offset(first + batch), row,
                 std::min(kRowsAtOnce, copy_rows_ - row), copied + (batch * copy_rows_ + row) * inner.extent * bytes_);
    });
  }

  MatrixView left_, right_;
  ElementType result_;
  bool adds_;
  int64_t m_ = 0, n_ = 0, k_ = 0, bytes_ = 0, tiles_ = 0, group_ = 1, copy_rows_ = 0;
  int64_t call_bytes_ = 0, lane_bytes_ = 0, copied_bytes_ = 0;
  bool copies_left_ = false, copies_right_ = false, by_columns_ = false;
  std::unique_ptr<OneDnnMatmul> whole_,
      last_;  ///< tiles of kTileRows, and the rest
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_dot_by_onednn(const MatrixView& left, const MatrixView& right, ElementType result,
                                                   bool adds) {
  const bool floats = left.type == ElementType::kF32 && result == ElementType::kF32;
  const bool halves = left.type == ElementType::kBF16 && (result == ElementType::kBF16 || result == ElementType::kF32);
  if (left.type != right.type || (!floats && !halves)) return nullptr;
  const int64_t m = left.rows.extent, n = right.columns.extent, k = left.columns.extent;
  if (m == 0 || n < 2 || k < 2 || left.batch.extent == 0 || m * n < kFewProducts / k) return nullptr;
  auto dot = std::make_unique<DotByOneDnn>(left, right, result, adds);
  if (!dot->usable()) return nullptr;
  return dot;
}

}  // namespace lowtide
