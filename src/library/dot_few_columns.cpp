#include "library/dot_few_columns.h"

#include <algorithm>

#include "library/copy_block.h"
#include "library/few_columns.h"

namespace lowtide::engine {
namespace {

/// Most columns: from twice kFewColumns on, they fill half of a vector's lanes.
constexpr int64_t kMostNarrow = 2 * kFewColumns;
/// Least rows per column, and least terms: few rows have no work for several threads, few terms leave lanes empty.
constexpr int64_t kRowsPerColumn = 8, kLeastTerms = 64;
/// Bytes of the columns, which all rows read again: half of a second-level cache.
constexpr int64_t kMostPackedBytes = int64_t{512} << 10;
/// Rows of a task: few enough for kTasksOfTall of them where there is work for so many threads.
constexpr int64_t kTasksOfTall = 16, kProductsOfTask = 1 << 16;

/// One of the operands: `rows` vectors of contiguous terms.
struct Side {
  size_t operand;
  StridedGroup batch, rows, terms;
  int64_t result_stride;  ///< from row to row of the result
};

template <class S>
class DotOfFewColumns : public LibraryRoutine {
 public:
  DotOfFewColumns(Side tall, Side narrow, bool adds)
      : tall_(std::move(tall)),
        narrow_(std::move(narrow)),
        adds_(adds),
        m_(tall_.rows.extent),
        n_(narrow_.rows.extent),
        k_(tall_.terms.extent) {
    const int64_t share = std::max(m_ / kTasksOfTall, kProductsOfTask / (n_ * k_));
    rows_ = std::min(m_, (share + kPanelRows) / kPanelRows * kPanelRows);
    tiles_ = (m_ + rows_ - 1) / rows_;
  }

  int64_t scratch_bytes() const override { return tall_.batch.extent * n_ * k_ * static_cast<int64_t>(sizeof(S)); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    auto* const packed = static_cast<S*>(scratch);
    pool.run(tall_.batch.extent, [&](int64_t batch, int) {
      const S* from = static_cast<const S*>(operands[narrow_.operand]) + narrow_.batch.offset(batch);
      for (int64_t j = 0; j < n_; ++j) pack(from + narrow_.rows.offset(j), packed + (batch * n_ + j) * k_);
    });
    pool.run(tall_.batch.extent * tiles_, [&](int64_t task, int) {
      const int64_t batch = task / tiles_, first = task % tiles_ * rows_;
      const S* const rows = static_cast<const S*>(operands[tall_.operand]) + tall_.batch.offset(batch);
      const int64_t at = batch * m_ * n_;
      const S* const added = adds_ ? static_cast<const S*>(operands[2]) + at : nullptr;
      for (int64_t row = first; row < std::min(first + rows_, m_); row += kPanelRows) {
        multiply(rows, row, packed + batch * n_ * k_, added, static_cast<S*>(results[0]) + at);
      }
    });
    return {};
  }

 private:
  void pack(const S* from, S* to) const {
    for (int64_t k = 0; k < k_; ++k) to[k] = from[narrow_.terms.offset(k)];
  }

  /// Computes kPanelRows rows, or those that are left: then the last one several times.
  void multiply(const S* rows, int64_t first, const S* columns, const S* added, S* result) const {
    RowRun<S> run{.step = 1, .depth = k_};
    const int64_t count = std::min(kPanelRows, m_ - first);
    for (int64_t i = 0; i < kPanelRows; ++i) run.rows[i] = rows + tall_.rows.offset(first + std::min(i, count - 1));
    S sums[kPanelRows * kMostNarrow];
    for (int64_t j = 0; j < n_; j += kFewColumns) {
      multiply_few_columns<S>({&run, 1}, columns + j * k_, k_, {sums + j, kMostNarrow, std::min(kFewColumns, n_ - j)},
                              Joining::kAlone);
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < n_; ++j) {
        const int64_t at = (first + i) * tall_.result_stride + j * narrow_.result_stride;
        result[at] = sums[i * kMostNarrow + j] + (added != nullptr ? added[at] : S(0));
      }
    }
  }

  Side tall_, narrow_;
  bool adds_;
  int64_t m_, n_, k_, rows_ = 0, tiles_ = 0;
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_dot_of_few_columns(const MatrixView& left, const MatrixView& right,
                                                        ElementType result, bool adds) {
  if (left.type != result || right.type != result || left.batch.extent == 0) return nullptr;
  const int64_t n = right.columns.extent;
  Side first{0, left.batch, left.rows, left.columns, n}, second{1, right.batch, right.columns, right.rows, 1};
  const auto of = [&]<class S>(const Side& tall, const Side& narrow) -> std::unique_ptr<LibraryRoutine> {
    const int64_t columns = narrow.rows.extent, terms = tall.terms.extent;
    const bool fits = columns >= 2 && columns <= kMostNarrow && tall.rows.extent >= kRowsPerColumn * columns &&
                      terms >= kLeastTerms && columns * terms * static_cast<int64_t>(sizeof(S)) <= kMostPackedBytes;
    if (!fits || !is_near(tall.terms)) return nullptr;
    return std::make_unique<DotOfFewColumns<S>>(tall, narrow, adds);
  };
  const auto of_type = [&](const Side& tall, const Side& narrow) -> std::unique_ptr<LibraryRoutine> {
    if (result == ElementType::kF32) return of.template operator()<float>(tall, narrow);
    if (result == ElementType::kF64) return of.template operator()<double>(tall, narrow);
    return nullptr;
  };
  if (auto dot = of_type(first, second)) return dot;
  return of_type(second, first);
}

}  // namespace lowtide::engine
