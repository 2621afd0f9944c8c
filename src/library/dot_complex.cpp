#include "library/dot_complex.h"

#include <algorithm>
#include <array>
#include <complex>
#include <span>

#include "library/copy_block.h"
#include "library/dot_by_panels.h"
#include "library/dot_onednn.h"
#include "library/dot_unpacked.h"
#include "library/lanes.h"

namespace lowtide::engine {
namespace {

/// Of one matrix, and of each of several, for which panels need no separate steps.
constexpr int64_t kFewestComplex = int64_t{1} << 15, kFewestOfMany = int64_t{1} << 17;
/// The expanded right matrix has at most so many bytes at a time, but at least so many rows.
constexpr int64_t kExpandedBytes = int64_t{2} << 20, kLeastExpanded = 32;
constexpr int64_t kFewestRows = 16;  ///< fewer aren't worth a copy of the right matrix

MatrixView dense(ElementType type, int64_t rows, int64_t columns) {
  MatrixView view;
  view.type = type;
  view.rows = {{rows}, {columns}, {0}};
  view.columns = {{columns}, {1}, {0}};
  return view;
}

std::unique_ptr<LibraryRoutine> make_real_product(ElementType part, int64_t m, int64_t n, int64_t k, bool adds) {
  const MatrixView left = dense(part, m, k), right = dense(part, k, n);
  if (auto product = make_dot_by_onednn(left, right, part, adds)) return product;
  if (auto product = make_dot_unpacked(left, right, part, adds)) return product;
  return make_dot_by_panels(left, right, part, adds, Joining::kAsPart);
}

class DotComplex : public LibraryRoutine {
 public:
  DotComplex(const MatrixView& left, const MatrixView& right, bool adds) : left_(left), right_(right), adds_(adds) {
    m_ = left.rows.extent;
    n_ = right.columns.extent;
    k_ = left.columns.extent;
    bytes_ = stored_bytes(left.type);
    depth_ = std::clamp(kExpandedBytes / (2 * n_ * bytes_), std::min(k_, kLeastExpanded), k_);
    copies_left_ = depth_ < k_ || !is_dense(left.rows, left.columns);
    const ElementType part = left.type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
    int64_t most = 0;
    for (const bool is_first : {true, false}) {
      for (const bool is_last : {true, false}) {
        const int64_t depth = is_last ? k_ - (k_ - 1) / depth_ * depth_ : depth_;
        if ((is_first && is_last) != (depth_ == k_)) continue;  // one part is the first and the last
        auto& product = products_[is_first][is_last];
        product = make_real_product(part, m_, 2 * n_, 2 * depth, adds || !is_first);
        most = std::max(most, product->scratch_bytes());
      }
    }
    left_at_ = align_scratch(2 * depth_ * n_ * bytes_);
    product_at_ = left_at_ + align_scratch(copies_left_ ? m_ * depth_ * bytes_ : 0);
    scratch_bytes_ = product_at_ + most;
  }

  int64_t scratch_bytes() const override { return scratch_bytes_; }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    auto* room = static_cast<std::byte*>(scratch);
    for (int64_t batch = 0; batch < left_.batch.extent; ++batch) {
      const int64_t result_at = batch * m_ * n_ * bytes_;
      void* to = static_cast<std::byte*>(results[0]) + result_at;
      const void* added = adds_ ? static_cast<const std::byte*>(operands[2]) + result_at : nullptr;
      for (int64_t k = 0; k < k_; k += depth_) {
        const IndexRange depth{k, std::min(depth_, k_ - k)};
        if (left_.type == ElementType::kC64) {
          expand_right<float>(operands[1], batch, depth, room, pool);
        } else {
          expand_right<double>(operands[1], batch, depth, room, pool);
        }
        const std::array<const void*, 3> given = {left_of(operands[0], batch, depth, room, pool), room, added};
        LibraryRoutine& product = *products_[k == 0][k + depth_ >= k_];
        LT_RETURN_IF_ERROR(
            product.run(std::span(given).first(added != nullptr ? 3 : 2), {&to, 1}, room + product_at_, pool));
        added = to;
      }
    }
    return {};
  }

 private:
  static constexpr int64_t kRowsAtOnce = 16;

  template <class R>
  void expand_right(const void* operand, int64_t batch, IndexRange depth, std::byte* room, ThreadPool& pool) const {
    const auto* from = static_cast<const std::complex<R>*>(operand) + right_.batch.offset(batch);
    auto* to = reinterpret_cast<R*>(room);
    pool.run((depth.count + kRowsAtOnce - 1) / kRowsAtOnce, [&](int64_t task, int) {
      for (int64_t k = task * kRowsAtOnce; k < std::min(depth.count, (task + 1) * kRowsAtOnce); ++k) {
        const std::complex<R>* row = from + right_.rows.offset(depth.first + k);
        R *real = to + 4 * k * n_, *imaginary = real + 2 * n_;
        for (int64_t j = 0; j < n_; ++j) {
          const std::complex<R> b =
              row[right_.columns.is_one() ? j * right_.columns.stride() : right_.columns.offset(j)];
          real[2 * j] = b.real();
          real[2 * j + 1] = b.imag();
          imaginary[2 * j] = -b.imag();
          imaginary[2 * j + 1] = b.real();
        }
      }
    });
  }

  const void* left_of(const void* operand, int64_t batch, IndexRange depth, std::byte* room, ThreadPool& pool) const {
    const int64_t origin = left_.batch.offset(batch);
    if (!copies_left_) return static_cast<const std::byte*>(operand) + origin * bytes_;
    pool.run((m_ + kRowsAtOnce - 1) / kRowsAtOnce, [&](int64_t task, int) {
      const int64_t row = task * kRowsAtOnce;
      copy_block(bytes_, left_.rows, left_.columns, operand, origin, {row, std::min(kRowsAtOnce, m_ - row)}, depth,
                 room + left_at_ + row * depth.count * bytes_);
    });
    return room + left_at_;
  }

  MatrixView left_, right_;
  bool adds_, copies_left_ = false;
  int64_t m_ = 0, n_ = 0, k_ = 0, bytes_ = 0;
  int64_t depth_ = 0;  ///< of a part of the products, which are added up
  int64_t left_at_ = 0, product_at_ = 0, scratch_bytes_ = 0;
  std::unique_ptr<LibraryRoutine> products_[2][2];  ///< [is the part the first?][is it the last?]
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_dot_complex(const MatrixView& left, const MatrixView& right, ElementType result,
                                                 bool adds) {
  if (!is_complex(result) || left.type != result || right.type != result) return nullptr;
  const int64_t m = left.rows.extent, n = right.columns.extent, k = left.columns.extent;
  const int64_t fewest = left.batch.extent > 1 ? kFewestOfMany : kFewestComplex;
  if (m < kFewestRows || n == 0 || k == 0 || left.batch.extent == 0 || m * n < fewest / k) return nullptr;
  return std::make_unique<DotComplex>(left, right, adds);
}

}  // namespace lowtide::engine
