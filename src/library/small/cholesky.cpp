/// potrf of small matrices, a few columns at a time: the update by all columns before them is one product.
#include <algorithm>

#include "library/small/across.h"
#include "library/small/kernels.h"

namespace lowtide::engine {
namespace {

template <class S, int kBytes>
struct CholeskyBody {
  using A = Across<S, kBytes>;
  using Vector = typename A::Vector;
  using Matrix = typename A::Matrix;

  [[gnu::always_inline]] static void run(const SmallMatrices& matrices, int64_t first, int64_t count,
                                         std::byte* scratch) {
    const int64_t n = matrices.problem->n;
    auto* elements = reinterpret_cast<Vector*>(scratch);
    A::load(matrices.operand<S>(0, first, n * n), n * n, n * n, count, elements);
    // u^T u of an upper triangle is l l^T of its mirror image.
    const bool lower = matrices.problem->uplo == 'L';
    const Matrix l{elements, lower ? n : 1, lower ? 1 : n};
    typename A::Mask info{};
    for (int64_t j = 0; j < n; j += A::kTile) {
      const int64_t width = std::min<int64_t>(A::kTile, n - j), below = j + width;
      // Updates only the triangle of the diagonal tile: the other one stays unchanged.
      for (int64_t i = j; i < below; ++i) {
        A::subtract(l.from(i, j), l.from(i, 0), l.from(j, 0).transposed(), 1, i - j + 1, j);
      }
      A::subtract(l.from(below, j), l.from(below, 0), l.from(j, 0).transposed(), n - below, width, j);
      factor_columns(l, j, width, n, info);
    }
    A::store(elements, n * n, count, matrices.result<S>(0, first, n * n), n * n);
    A::store_counts(info, count, matrices.result<int32_t>(1, first, 1), 1);
  }

 private:
  [[gnu::always_inline]] static void factor_columns(Matrix l, int64_t begin, int64_t width, int64_t n,
                                                    typename A::Mask& info) {
    for (int64_t j = begin; j < begin + width; ++j) {
      Vector pivot = l(j, j);
      for (int64_t k = begin; k < j; ++k) pivot -= l(j, k) * l(j, k);
      info = ((info == 0) & ~(pivot > 0)) ? A::all_counts(j + 1) : info;
      const Vector root = A::sqrt(pivot), inverse = 1 / root;
      l(j, j) = root;
      for (int64_t i = j + 1; i < n; ++i) {
        Vector x = l(i, j);
        for (int64_t k = begin; k < j; ++k) x -= l(i, k) * l(j, k);
        l(i, j) = x * inverse;
      }
    }
  }
};

}  // namespace

SmallRoutine small_cholesky(const LapackProblem& problem) {
  return {small_kernel<CholeskyBody>(problem.type), int64_t{problem.n} * problem.n};
}

}  // namespace lowtide::engine
