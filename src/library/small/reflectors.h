#pragma once
/// Householder reflectors h = 1 - tau v v^T of many matrices at once; the first element of v is 1.

#include "library/small/across.h"

namespace lowtide::engine {

template <class S, int kBytes>
struct Reflectors {
  using A = Across<S, kBytes>;
  using Vector = typename A::Vector;
  using Matrix = typename A::Matrix;

  /// h (x0, x) = (beta, 0), as LAPACK's larfg: beta has the opposite sign of x0. `column` of n rows holds x0 and x, and
  /// afterwards beta and v's rest. Returns tau, which is 0 if x is already zero.
  [[gnu::always_inline]] static Vector make(Matrix column, int64_t n) {
    // After scaling to about 1, the sum of squares neither overflows nor underflows; the bounds keep inverses at full
    // precision.
    constexpr S kLeast = std::numeric_limits<S>::min(), kMost = 1 / (4 * kLeast);
    const Vector alpha = column(0, 0);
    Vector largest{};
    for (int64_t i = 1; i < n; ++i) largest = A::max(A::abs(column(i, 0)), largest);
    Vector scale = A::max(A::max(A::abs(alpha), largest), A::all(kLeast));
    scale = scale > A::all(kMost) ? A::all(kMost) : scale;
    const Vector inverse = 1 / scale, near = alpha * inverse;
    Vector square = near * near;
    for (int64_t i = 1; i < n; ++i) {
      const Vector x = column(i, 0) * inverse;
      square += x * x;
    }
    const auto nothing = (largest == 0) & (square == square);  // NaN isn't larger than anything
    const Vector norm = A::sqrt(square), beta = near < 0 ? norm : -norm;
    const Vector after = nothing ? Vector{} : 1 / (near - beta);
    for (int64_t i = 1; i < n; ++i) column(i, 0) = column(i, 0) * inverse * after;
    column(0, 0) = nothing ? alpha : beta * scale;
    return nothing ? Vector{} : (beta - near) / beta;
  }

  /// c = h c: c of n rows, v's rest in rows 1.. of `column`.
  [[gnu::always_inline]] static void apply(Matrix column, Vector tau, int64_t n, Matrix c, int64_t columns) {
    int64_t j = 0;
    for (; j + kAtOnce <= columns; j += kAtOnce) apply_to<kAtOnce>(column, tau, n, c.from(0, j));
    for (; j < columns; ++j) apply_to<1>(column, tau, n, c.from(0, j));
  }

  /// As orgqr: replaces `count` reflectors, which are below the diagonal of a, with the first columns, of m rows, of
  /// their product.
  [[gnu::always_inline]] static void multiply_out(Matrix a, const Vector* taus, int64_t m, int64_t columns,
                                                  int64_t count) {
    for (int64_t j = count; j < columns; ++j) {
      for (int64_t i = 0; i < m; ++i) a(i, j) = A::all(i == j ? 1 : 0);
    }
    for (int64_t k = count; k-- > 0;) {
      const Matrix column = a.from(k, k);
      const Vector tau = taus[k];
      apply(column, tau, m - k, a.from(k, k + 1), columns - k - 1);
      for (int64_t i = 1; i < m - k; ++i) column(i, 0) *= -tau;
      column(0, 0) = 1 - tau;
      for (int64_t i = 0; i < k; ++i) a(i, k) = Vector{};
    }
  }

 private:
  static constexpr int kAtOnce = A::kTile;

  template <int kColumns>
  [[gnu::always_inline]] static void apply_to(Matrix column, Vector tau, int64_t n, Matrix c) {
    Vector product[kColumns];
    LT_UNROLL for (int j = 0; j < kColumns; ++j) product[j] = c(0, j);
    for (int64_t i = 1; i < n; ++i) {
      const Vector v = column(i, 0);
      LT_UNROLL for (int j = 0; j < kColumns; ++j) product[j] += v * c(i, j);
    }
    LT_UNROLL for (int j = 0; j < kColumns; ++j) {
      product[j] *= tau;
      c(0, j) -= product[j];
    }
    for (int64_t i = 1; i < n; ++i) {
      const Vector v = column(i, 0);
      LT_UNROLL for (int j = 0; j < kColumns; ++j) c(i, j) -= v * product[j];
    }
  }
};

}  // namespace lowtide::engine
