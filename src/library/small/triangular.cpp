/// trsm of small matrices. Every variant is l x = b with a lower triangle, read with other strides.
#include <algorithm>

#include "library/small/across.h"
#include "library/small/kernels.h"

namespace lowtide::engine {
namespace {

int64_t order_of(const LapackProblem& problem) { return problem.side == 'L' ? problem.m : problem.n; }

template <class S, int kBytes>
struct TriangularBody {
  using A = Across<S, kBytes>;
  using Vector = typename A::Vector;
  using Matrix = typename A::Matrix;

  [[gnu::always_inline]] static void run(const SmallMatrices& matrices, int64_t first, int64_t count,
                                         std::byte* scratch) {
    const LapackProblem& p = *matrices.problem;
    const int64_t order = order_of(p), elements = int64_t{p.m} * p.n, columns = p.n;
    const bool left = p.side == 'L', unit = p.diag == 'U';
    auto* triangle = reinterpret_cast<Vector*>(scratch);
    Vector* right = triangle + order * order;
    Vector* inverse = right + elements;
    A::load(matrices.operand<S>(0, first, order * order), order * order, order * order, count, triangle);
    A::load(matrices.operand<S>(1, first, elements), elements, elements, count, right);
    Matrix t{triangle, order, 1}, x{right, columns, 1};
    if (!left) x = x.transposed();  // x t = b: t^T x^T = b^T
    const bool turned = (p.trans != 'N') == left;
    if (turned) t = t.transposed();
    if ((p.uplo == 'L') == turned) {  // an upper triangle read in reverse is a lower one
      t = t.upside_down(order).transposed().upside_down(order).transposed();
      x = x.upside_down(order);
    }
    for (int64_t i = 0; i < order && !unit; ++i) inverse[i] = 1 / t(i, i);
    solve(t, x, order, left ? columns : p.m, unit ? nullptr : inverse);
    A::store(right, elements, count, matrices.result<S>(0, first, elements), elements);
  }

 private:
  [[gnu::always_inline]] static void solve(Matrix t, Matrix x, int64_t order, int64_t vectors, const Vector* inverse) {
    for (int64_t i = 0; i < order; i += A::kTile) {
      const int64_t rows = std::min<int64_t>(A::kTile, order - i);
      A::subtract(x.from(i, 0), t.from(i, 0), x, rows, vectors, i);
      for (int64_t v = 0; v < vectors; ++v) {
        for (int64_t r = i; r < i + rows; ++r) {
          Vector sum = x(r, v);
          for (int64_t k = i; k < r; ++k) sum -= t(r, k) * x(k, v);
          x(r, v) = inverse != nullptr ? sum * inverse[r] : sum;
        }
      }
    }
  }
};

}  // namespace

SmallRoutine small_triangular(const LapackProblem& problem) {
  const int64_t order = order_of(problem);
  return {small_kernel<TriangularBody>(problem.type), order * order + int64_t{problem.m} * problem.n + order};
}

}  // namespace lowtide::engine
