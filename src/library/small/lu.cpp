/// getrf of small matrices: each lane exchanges rows by its own pivots. A few rows and columns at a time (Crout's
/// order) are updated with one product of the rows and columns before them.
#include <algorithm>

#include "library/small/across.h"
#include "library/small/kernels.h"

namespace lowtide::engine {
namespace {

template <class S, int kBytes>
struct LuBody {
  using A = Across<S, kBytes>;
  using Vector = typename A::Vector;
  using Mask = typename A::Mask;
  using Matrix = typename A::Matrix;

  [[gnu::always_inline]] static void run(const SmallMatrices& matrices, int64_t first, int64_t count,
                                         std::byte* scratch) {
    const int64_t m = matrices.problem->m, n = matrices.problem->n, few = std::min(m, n);
    auto* elements = reinterpret_cast<Vector*>(scratch);
    A::load(matrices.operand<S>(0, first, m * n), m * n, m * n, count, elements);
    const Matrix a{elements, n, 1};
    auto* pivots = matrices.result<int32_t>(1, first, few);
    Mask info{};
    for (int64_t j = 0; j < few; j += A::kTile) {
      const int64_t width = std::min<int64_t>(A::kTile, few - j), after = j + width;
      A::subtract(a.from(j, j), a.from(j, 0), a.from(0, j), m - j, width, j);
      for (int64_t k = j; k < after; ++k) {
        const Mask pivot = find_pivot(a, k, m);
        A::store_counts(pivot + 1, count, pivots + k, few);
        exchange_rows(a, k, pivot, n);
        info = ((info == 0) & (a(k, k) == 0)) ? A::all_counts(k + 1) : info;
        divide_column(a, k, m);
        for (int64_t i = k + 1; i < m; ++i) {
          for (int64_t c = k + 1; c < after; ++c) a(i, c) -= a(i, k) * a(k, c);
        }
      }
      A::subtract(a.from(j, after), a.from(j, 0), a.from(0, after), width, n - after, j);
      for (int64_t i = j + 1; i < after; ++i) {
        for (int64_t k = j; k < i; ++k) {
          for (int64_t c = after; c < n; ++c) a(i, c) -= a(i, k) * a(k, c);
        }
      }
    }
    A::store(elements, m * n, count, matrices.result<S>(0, first, m * n), m * n);
    A::store_counts(info, count, matrices.result<int32_t>(2, first, 1), 1);
  }

 private:
  /// The row of the largest element of column k; of equal ones, the first.
  [[gnu::always_inline]] static Mask find_pivot(Matrix a, int64_t k, int64_t m) {
    Vector largest = A::abs(a(k, k));
    Mask row = A::all_counts(k);
    for (int64_t i = k + 1; i < m; ++i) {
      const Vector size = A::abs(a(i, k));
      row = size > largest ? A::all_counts(i) : row;
      largest = A::max(size, largest);
    }
    return row;
  }

  [[gnu::always_inline]] static void exchange_rows(Matrix a, int64_t k, Mask pivot, int64_t n) {
    for (int64_t l = 0; l < A::kLanes; ++l) {
      if (pivot[l] == k) continue;
      S* here = reinterpret_cast<S*>(&a(k, 0)) + l;
      S* there = reinterpret_cast<S*>(&a(static_cast<int64_t>(pivot[l]), 0)) + l;
      for (int64_t c = 0; c < n; ++c) std::swap(here[c * A::kLanes], there[c * A::kLanes]);
    }
  }

  /// Divides the elements below the pivot by it; a column of zeros stays unchanged.
  [[gnu::always_inline]] static void divide_column(Matrix a, int64_t k, int64_t m) {
    const Vector pivot = a(k, k) == 0 ? A::all(1) : a(k, k);
    if (A::any(A::abs(pivot) < A::all(std::numeric_limits<S>::min()))) {  // its inverse may be infinite
      for (int64_t i = k + 1; i < m; ++i) a(i, k) /= pivot;
      return;
    }
    const Vector inverse = 1 / pivot;
    for (int64_t i = k + 1; i < m; ++i) a(i, k) *= inverse;
  }
};

}  // namespace

SmallRoutine small_lu(const LapackProblem& problem) {
  return {small_kernel<LuBody>(problem.type), int64_t{problem.m} * problem.n};
}

}  // namespace lowtide::engine
