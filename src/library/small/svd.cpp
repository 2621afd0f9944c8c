/// gesdd of small matrices by Hestenes's one-sided rotations (Golub and Van Loan, Matrix Computations, 8.6.3): columns
/// of w = a v are rotated against each other until all are orthogonal; their lengths are the singular values. The
/// longer of two columns becomes the first, which also sorts them (de Rijk). The left vectors are the orthogonal factor
/// of w, so that columns of zeros have one, too.
#include <algorithm>

#include "library/small/kernels.h"
#include "library/small/reflectors.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostSweeps = 40;  ///< ten are many

/// Extents of a matrix with at least as many rows as columns, which is the transpose if it has more columns.
struct SvdExtents {
  int64_t rows, columns, lefts;  ///< lefts: number of left vectors wanted
  explicit SvdExtents(const LapackProblem& p)
      : rows(std::max(p.m, p.n)), columns(std::min(p.m, p.n)), lefts(p.k != 0 ? rows : columns) {}
};

template <class S, int kBytes>
struct SvdBody {
  using A = Across<S, kBytes>;
  using R = Reflectors<S, kBytes>;
  using Vector = typename A::Vector;
  using Mask = typename A::Mask;
  using Matrix = typename A::Matrix;

  [[gnu::always_inline]] static void run(const SmallMatrices& matrices, int64_t first, int64_t count,
                                         std::byte* scratch) {
    const LapackProblem& p = *matrices.problem;
    const int64_t m = p.m, n = p.n;
    const SvdExtents e(p);
    auto* given = reinterpret_cast<Vector*>(scratch);
    Vector *w_room = given + m * n, *v_room = w_room + e.rows * e.lefts, *norms = v_room + e.columns * e.columns;
    Vector* dense = norms + 2 * e.columns;
    A::load(matrices.operand<S>(0, first, m * n), m * n, m * n, count, given);
    A::store(given, m * n, count, matrices.result<S>(0, first, m * n), m * n);
    Vector largest{}, poison{};
    for (int64_t i = 0; i < m * n; ++i) {
      largest = A::max(A::abs(given[i]), largest);
      poison += given[i] * 0;
    }
    const Mask finite = poison == 0;
    const Vector unit = A::power_of_two(largest), inverse = 1 / unit;
    const bool upright = m >= n;
    const Matrix a{given, upright ? n : 1, upright ? 1 : n}, w{w_room, 1, e.rows}, v{v_room, 1, e.columns};
    for (int64_t j = 0; j < e.columns; ++j) {
      for (int64_t i = 0; i < e.rows; ++i) w(i, j) = finite ? a(i, j) * inverse : Vector{};
      for (int64_t i = 0; i < e.columns; ++i) v(i, j) = A::all(i == j ? 1 : 0);
    }
    const bool vectors = p.mode != 'N';
    const Mask info = make_orthogonal(w, e.rows, v, e.columns, vectors, norms);
    A::store_counts(finite ? info : A::all_counts(-4), count, matrices.result<int32_t>(4, first, 1), 1);
    const Vector nan = A::all(std::numeric_limits<S>::quiet_NaN());
    for (int64_t j = 0; j < e.columns; ++j) norms[j] = finite ? A::sqrt(norms[j]) * unit : nan;
    A::store(norms, e.columns, count, matrices.result<S>(1, first, e.columns), e.columns);
    if (vectors) {
      normalise(w, e, norms + e.columns, dense);
      const auto put = [&](size_t r, Matrix from, int64_t rows, int64_t columns) __attribute__((always_inline)) {
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) dense[i * columns + j] = finite ? from(i, j) : nan;
        }
        A::store(dense, rows * columns, count, matrices.result<S>(r, first, rows * columns), rows * columns);
      };
      put(upright ? 2 : 3, upright ? w : w.transposed(), upright ? m : e.lefts, upright ? e.lefts : n);
      put(upright ? 3 : 2, upright ? v.transposed() : v, e.columns, e.columns);
    } else {
      const int64_t left = m * (p.k != 0 ? m : e.columns), right = n * (p.k != 0 ? n : e.columns);
      std::fill_n(matrices.result<S>(2, first, left), count * left, S(0));
      std::fill_n(matrices.result<S>(3, first, right), count * right, S(0));
    }
  }

 private:
  /// Sweeps over all pairs of columns, and rotates v along. Leaves the squared lengths of the columns, in order.
  [[gnu::always_inline]] static Mask make_orthogonal(Matrix w, int64_t rows, Matrix v, int64_t columns, bool vectors,
                                                     Vector* squares) {
    const Vector tolerance = A::all(2 * std::sqrt(static_cast<S>(rows)) * std::numeric_limits<S>::epsilon());
    Mask turned{};
    for (int64_t sweep = 0; sweep < kMostSweeps; ++sweep) {
      turned = Mask{};
      for (int64_t j = 0; j < columns; ++j) squares[j] = dot(&w(0, j), &w(0, j), rows);
      for (int64_t j = 0; j < columns; ++j) {
        for (int64_t k = j + 1; k < columns; ++k) {
          const Vector product = dot(&w(0, j), &w(0, k), rows);
          const Mask turns =
              A::abs(product) > tolerance * A::sqrt(squares[j]) * A::max(A::sqrt(squares[k]), A::all(kNothing));
          const Vector tangent = tangent_of(squares[j], squares[k], product, turns);
          squares[j] -= tangent * product;
          squares[k] += tangent * product;
          const Mask swaps = squares[k] > squares[j];
          turned |= turns;
          if (!A::any(turns | swaps)) continue;
          const Vector longer = swaps ? squares[k] : squares[j];
          squares[k] = swaps ? squares[j] : squares[k];
          squares[j] = longer;
          const Vector c = 1 / A::sqrt(1 + tangent * tangent), s = c * tangent;
          const Pair to_first{swaps ? s : c, swaps ? c : -s}, to_second{swaps ? c : s, swaps ? -s : c};
          rotate(&w(0, j), &w(0, k), rows, to_first, to_second);
          if (vectors) rotate(&v(0, j), &v(0, k), columns, to_first, to_second);
        }
      }
      if (!A::any(turned)) break;
    }
    return turned ? A::all_counts(1) : Mask{};
  }

  /// The tangent of the angle, at most 45 degrees, by which to rotate two columns of these squared lengths and this
  /// product to make them orthogonal.
  [[gnu::always_inline]] static Vector tangent_of(Vector first, Vector second, Vector product, Mask turns) {
    const Vector slope = (second - first) / (turns ? 2 * product : A::all(1)), size = A::abs(slope);
    const Vector root = size > A::all(S(0x1p40)) ? size : A::sqrt(1 + slope * slope);
    const Vector tangent = 1 / (size + root);
    return turns ? (slope < 0 ? -tangent : tangent) : Vector{};
  }

  [[gnu::always_inline]] static Vector dot(const Vector* x, const Vector* y, int64_t n) {
    constexpr int kSums = 4;
    Vector sums[kSums] = {};
    int64_t i = 0;
    for (; i + kSums <= n; i += kSums) {
      LT_UNROLL for (int s = 0; s < kSums; ++s) sums[s] += x[i + s] * y[i + s];
    }
    for (; i < n; ++i) sums[0] += x[i] * y[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  struct Pair {
    Vector first, second;
  };
  [[gnu::always_inline]] static void rotate(Vector* x, Vector* y, int64_t n, Pair to_x, Pair to_y) {
    for (int64_t i = 0; i < n; ++i) {
      const Vector first = x[i], second = y[i];
      x[i] = to_x.first * first + to_x.second * second;
      y[i] = to_y.first * first + to_y.second * second;
    }
  }

  /// w = q r, where r is diagonal: replaces w by q, with the signs of r.
  [[gnu::always_inline]] static void normalise(Matrix w, const SvdExtents& e, Vector* taus, Vector* signs) {
    for (int64_t k = 0; k < e.columns; ++k) {
      taus[k] = R::make(w.from(k, k), e.rows - k);
      R::apply(w.from(k, k), taus[k], e.rows - k, w.from(k, k + 1), e.columns - k - 1);
    }
    for (int64_t k = 0; k < e.columns; ++k) signs[k] = w(k, k) < 0 ? A::all(-1) : A::all(1);
    R::multiply_out(w, taus, e.rows, e.lefts, e.columns);
    for (int64_t k = 0; k < e.columns; ++k) {
      for (int64_t i = 0; i < e.rows; ++i) w(i, k) *= signs[k];
    }
  }

  /// Next to the longest column, whose elements are near 1, a column shorter than this is negligible.
  static constexpr S kNothing = std::numeric_limits<S>::epsilon() * std::numeric_limits<S>::epsilon();
};

}  // namespace

SmallRoutine small_svd(const LapackProblem& problem) {
  const SvdExtents e(problem);
  return {small_kernel<SvdBody>(problem.type),
          int64_t{problem.m} * problem.n + 2 * e.rows * e.lefts + e.columns * e.columns + 2 * e.columns};
}

}  // namespace lowtide::engine
