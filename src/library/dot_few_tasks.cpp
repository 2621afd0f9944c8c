#include "library/dot_few_tasks.h"

#include <algorithm>
#include <atomic>

#include "library/convert.h"
#include "library/copy_block.h"
#include "library/onednn.h"
#include "library/routines.h"

namespace lowtide::engine {
namespace {

/// Most rows of left: with more, there are enough tiles.
constexpr int64_t kMostPartRows = 192;
constexpr int64_t kParts = 4;
/// Least depth of a part: with less, the additional sums don't pay off.
constexpr int64_t kLeastPartDepth = 1024;
/// Depth of a call, for which its part of left is copied.
constexpr int64_t kPartDepth = 512;
/// The partial sums must be smaller than the operands by this factor.
constexpr int64_t kSmallPart = 8;

class DotOfFewTasks : public LibraryRoutine {
 public:
  DotOfFewTasks(const MatrixView& left, const MatrixView& right, ElementType result, bool adds)
      : left_(left), right_(right), result_(result), adds_(adds) {
    m_ = left.rows.extent;
    n_ = right.columns.extent;
    k_ = left.columns.extent;
    bytes_ = stored_bytes(left.type);
    depth_ = (k_ + kParts * kPartDepth - 1) / (kParts * kPartDepth) * kPartDepth;
    for (const int64_t depth : {kPartDepth, k_ % kPartDepth}) {
      if (depth == 0) continue;
      auto product = OneDnnMatmul::make({left.type, ElementType::kF32, m_, n_, depth, false, /*adds=*/true});
      if (!product) return;
      left_at_ = std::max(left_at_, align_scratch(product->scratch_bytes()));
      (depth == kPartDepth ? whole_ : last_) = std::move(product);
    }
    sums_at_ = left_at_ + align_scratch(m_ * kPartDepth * bytes_);
    part_bytes_ = sums_at_ + align_scratch(m_ * n_ * stored_bytes(ElementType::kF32));
    usable_ = true;
  }

  bool usable() const { return usable_; }

  int64_t scratch_bytes() const override { return kParts * part_bytes_; }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    auto* room = static_cast<std::byte*>(scratch);
    std::atomic<bool> failed = false;
    pool.run(kParts, [&](int64_t part, int) {
      if (!sum_part(part, operands[0], operands[1], room + part * part_bytes_)) failed = true;
    });
    if (failed) return products_done(failed);
    const void* const first = adds_ ? operands[2] : nullptr;
    if (result_ == ElementType::kF32) {
      add_parts<float>(first, results[0], room, pool);
    } else {
      add_parts<BFloat16>(first, results[0], room, pool);
    }
    return {};
  }

 private:
  bool sum_part(int64_t part, const void* left, const void* right, std::byte* own) const {
    std::fill_n(reinterpret_cast<float*>(own + sums_at_), m_ * n_, 0.0F);
    for (int64_t k = part * depth_; k < std::min(k_, (part + 1) * depth_); k += kPartDepth) {
      const int64_t depth = std::min(kPartDepth, k_ - k);
      copy_block(bytes_, left_.rows, left_.columns, left, left_.batch.offset(0), {0, m_}, {k, depth}, own + left_at_);
      const auto* below = static_cast<const std::byte*>(right) + (right_.batch.offset(0) + k * n_) * bytes_;
      const auto& product = depth == kPartDepth ? whole_ : last_;
      if (!product->run(own + left_at_, below, own + sums_at_, own)) return false;
    }
    return true;
  }

  /// Adds the parts in order, and rounds once.
  template <class T>
  void add_parts(const void* first, void* result, const std::byte* room, ThreadPool& pool) const {
    constexpr int64_t kPiece = 4096;
    const int64_t count = m_ * n_;
    pool.run((count + kPiece - 1) / kPiece, [&](int64_t piece, int) {
      for (int64_t i = piece * kPiece; i < std::min(count, (piece + 1) * kPiece); ++i) {
        float sum = first != nullptr ? to_sum<float>(static_cast<const T*>(first)[i]) : 0.0F;
        for (int64_t part = 0; part < kParts; ++part) {
          sum += reinterpret_cast<const float*>(room + part * part_bytes_ + sums_at_)[i];
        }
        static_cast<T*>(result)[i] = from_sum<T, float>(sum);
      }
    });
  }

  MatrixView left_, right_;
  ElementType result_;
  bool adds_, usable_ = false;
  int64_t m_ = 0, n_ = 0, k_ = 0, bytes_ = 0;
  int64_t depth_ = 0;                                   ///< of a part
  int64_t left_at_ = 0, sums_at_ = 0, part_bytes_ = 0;  ///< a part's scratch: offsets, and size
  std::shared_ptr<const OneDnnMatmul> whole_, last_;    ///< for kPartDepth, and for the rest
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_dot_of_few_tasks(const MatrixView& left, const MatrixView& right,
                                                      ElementType result, bool adds) {
  const int64_t m = left.rows.extent, n = right.columns.extent, k = left.columns.extent;
  if (left.batch.extent != 1 || m > kMostPartRows || k < kParts * kLeastPartDepth) return nullptr;
  const int64_t beside = kParts * m * n * stored_bytes(ElementType::kF32);
  if (beside * kSmallPart > (m + n) * k * stored_bytes(left.type) || !is_dense(right.rows, right.columns))
    return nullptr;
  auto dot = std::make_unique<DotOfFewTasks>(left, right, result, adds);
  if (!dot->usable()) return nullptr;
  return dot;
}

}  // namespace lowtide::engine
