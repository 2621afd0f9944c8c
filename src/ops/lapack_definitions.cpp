// Factorisations by their definitions, on column-major matrices, computed in double precision.
#include <cmath>
#include <complex>

#include "ops/lapack_call.h"
#include "ops/matrices.h"

namespace lowtide::engine {
namespace {

/// A matrix of numbers S, read from and written back to stored elements T.
template <class T, class S>
class Matrix {
 public:
  Matrix(void* elements, int64_t rows, int64_t columns)
      : elements_(static_cast<T*>(elements)), rows_(rows), columns_(columns) {
    for (int64_t i = 0; i < rows * columns; ++i) values_.push_back(S(elements_[i]));
  }
  S& operator()(int64_t i, int64_t j) { return values_[j * rows_ + i]; }
  const S& operator()(int64_t i, int64_t j) const { return values_[j * rows_ + i]; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  void write_back() const {
    for (size_t i = 0; i < values_.size(); ++i) elements_[i] = static_cast<T>(values_[i]);
  }

 private:
  T* elements_;
  int64_t rows_, columns_;
  std::vector<S> values_;
};

/// The size by which LAPACK compares pivots.
inline double size_of(double x) { return std::fabs(x); }
inline double size_of(Complex128 x) { return std::fabs(x.real()) + std::fabs(x.imag()); }
inline double imaginary(double) { return 0; }
inline double imaginary(Complex128 x) { return x.imag(); }

/// Lower: a = l l^H. Upper: a = u^H u, the same with indices exchanged. The other triangle is left unchanged.
template <class M>
int32_t factor_positive(M& a, bool lower) {
  const int64_t n = a.columns();
  const auto get = [&](int64_t i, int64_t j) { return lower ? a(i, j) : conjugate(a(j, i)); };
  const auto set = [&](int64_t i, int64_t j, auto x) { (lower ? a(i, j) : a(j, i)) = lower ? x : conjugate(x); };
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      auto sum = get(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= get(i, k) * conjugate(get(j, k));
      using S = decltype(sum);
      const bool fails = i == j && !(real_part(sum) > 0);
      if (fails) set(i, j, sum);
      if (fails) return static_cast<int32_t>(j + 1);
      set(i, j, i == j ? S(std::sqrt(real_part(sum))) : sum / get(j, j));
    }
  }
  return 0;
}

/// p a = l u, with the largest element of each column as pivot.
template <class M>
int32_t factor_with_pivots(M& a, int32_t* pivots) {
  int32_t info = 0;
  for (int64_t j = 0; j < std::min(a.rows(), a.columns()); ++j) {
    int64_t pivot = j;
    for (int64_t i = j + 1; i < a.rows(); ++i) {
      if (size_of(a(i, j)) > size_of(a(pivot, j))) pivot = i;
    }
    pivots[j] = static_cast<int32_t>(pivot + 1);
    if (size_of(a(pivot, j)) == 0) {
      if (info == 0) info = static_cast<int32_t>(j + 1);
      continue;
    }
    for (int64_t k = 0; k < a.columns(); ++k) std::swap(a(j, k), a(pivot, k));
    for (int64_t i = j + 1; i < a.rows(); ++i) {
      a(i, j) /= a(j, j);
      for (int64_t k = j + 1; k < a.columns(); ++k) a(i, k) -= a(i, j) * a(j, k);
    }
  }
  return info;
}

/// Solves op(t) x = b or x op(t) = b, with the solution in b.
template <class M>
void solve(const M& t, const LapackProblem& p, M& b) {
  const int64_t n = t.rows();
  const bool left = p.side == 'L';
  const auto entry = [&](int64_t i, int64_t j) {  // of op(t), or of its transpose if it is on the right
    const bool mirrored = (p.trans != 'N') == left;
    const auto x = mirrored ? t(j, i) : t(i, j);
    return p.trans == 'C' ? conjugate(x) : x;
  };
  const bool lower = (p.uplo == 'L') == ((p.trans != 'N') != left);
  for (int64_t v = 0; v < (left ? b.columns() : b.rows()); ++v) {
    const auto x = [&](int64_t i) -> auto& { return left ? b(i, v) : b(v, i); };
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = lower ? step : n - 1 - step;
      for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) x(i) -= entry(i, j) * x(j);
      if (p.diag == 'N') x(i) /= entry(i, i);
    }
  }
}

/// c = h c, or c h, with h = 1 - tau v v^H; v is 0 before row `r`, 1 in it, and given by `at` after it.
template <class S, class M, class V>
void reflect(S tau, V&& at, int64_t r, int64_t end, M& c, bool left, int64_t first) {
  const int64_t across = left ? c.columns() : c.rows();
  for (int64_t j = first; j < across; ++j) {
    const auto x = [&](int64_t i) -> S& { return left ? c(i, j) : c(j, i); };
    S product = x(r);
    for (int64_t i = r + 1; i < end; ++i) product += (left ? conjugate(at(i)) : at(i)) * x(i);
    x(r) -= tau * product;
    for (int64_t i = r + 1; i < end; ++i) x(i) -= tau * product * (left ? at(i) : conjugate(at(i)));
  }
}

/// a = q r: r in the upper triangle, reflectors below it.
template <class T, class S, class M>
void factor_orthogonal(M& a, T* taus) {
  const int64_t m = a.rows();
  for (int64_t j = 0; j < std::min(m, a.columns()); ++j) {
    double below = 0;
    for (int64_t i = j + 1; i < m; ++i) below = std::hypot(below, std::abs(a(i, j)));
    const S alpha = a(j, j);
    S tau(0);
    if (below != 0 || imaginary(alpha) != 0) {
      const double beta = -std::copysign(std::hypot(std::abs(alpha), below), real_part(alpha));
      tau = (S(beta) - alpha) / beta;
      for (int64_t i = j + 1; i < m; ++i) a(i, j) /= alpha - S(beta);
      a(j, j) = S(beta);
    }
    taus[j] = static_cast<T>(tau);
    reflect(conjugate(tau), [&](int64_t i) { return a(i, j); }, j, m, a, true, j + 1);
  }
}

/// Replaces the reflectors by the first columns of their product.
template <class T, class S>
void make_orthogonal(Matrix<T, S>& a, const T* taus, int64_t count) {
  const Matrix<T, S> reflectors = a;
  for (int64_t j = 0; j < a.columns(); ++j) {
    for (int64_t i = 0; i < a.rows(); ++i) a(i, j) = S(i == j ? 1 : 0);
  }
  for (int64_t k = count; k-- > 0;) {
    reflect(S(taus[k]), [&](int64_t i) { return reflectors(i, k); }, k, a.rows(), a, true, 0);
  }
}

/// c = op(q) c or c op(q), where q is the product of the reflectors.
template <class T, class S>
void multiply_orthogonal(const Matrix<T, S>& reflectors, const T* taus, const LapackProblem& p, Matrix<T, S>& c) {
  const bool left = p.side == 'L', forward = (p.trans == 'N') != left;
  for (int64_t step = 0; step < p.k; ++step) {
    const int64_t k = forward ? step : p.k - 1 - step;
    const S tau(taus[k]);
    reflect(
        p.trans == 'N' ? tau : conjugate(tau), [&](int64_t i) { return reflectors(i, k); }, k, reflectors.rows(), c,
        left, 0);
  }
}

/// Elimination along three diagonals, with row exchanges if the lower row has the larger pivot; the fill-in above the
/// upper diagonal is stored in the lower one.
template <class T, class S, class M>
int32_t solve_tridiagonal(T* lower_elements, T* diagonal, T* upper, M& b) {
  const int64_t n = b.rows();
  std::vector<S> l, d, u;
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) l.push_back(S(lower_elements[i]));
    d.push_back(S(diagonal[i]));
    if (i + 1 < n) u.push_back(S(upper[i]));
  }
  const auto at = [](int64_t i) { return static_cast<size_t>(i); };
  int32_t info = 0;
  for (int64_t k = 0; k + 1 < n && info == 0; ++k) {
    const size_t here = at(k), below = at(k + 1);
    if (l[here] == S(0)) {
      if (d[here] == S(0)) info = static_cast<int32_t>(k + 1);
      continue;
    }
    if (size_of(d[here]) >= size_of(l[here])) {
      const S factor = l[here] / d[here];
      d[below] -= factor * u[here];
      for (int64_t j = 0; j < b.columns(); ++j) b(k + 1, j) -= factor * b(k, j);
      if (k + 2 < n) l[here] = S(0);
      continue;
    }
    const S factor = d[here] / l[here], pivot = d[below];
    d[here] = l[here];
    d[below] = u[here] - factor * pivot;
    if (k + 2 < n) {
      l[here] = u[below];
      u[below] = -factor * l[here];
    }
    u[here] = pivot;
    for (int64_t j = 0; j < b.columns(); ++j) {
      const S mine = b(k, j);
      b(k, j) = b(k + 1, j);
      b(k + 1, j) = mine - factor * b(k + 1, j);
    }
  }
  if (info == 0 && n > 0 && d.back() == S(0)) info = static_cast<int32_t>(n);
  for (int64_t j = 0; info == 0 && j < b.columns(); ++j) {
    for (int64_t i = n; i-- > 0;) {
      if (i + 1 < n) b(i, j) -= u[at(i)] * b(i + 1, j);
      if (i + 2 < n) b(i, j) -= l[at(i)] * b(i + 2, j);
      b(i, j) /= d[at(i)];
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) lower_elements[i] = static_cast<T>(l[at(i - 1)]);
    diagonal[i] = static_cast<T>(d[at(i)]);
    if (i + 1 < n) upper[i] = static_cast<T>(u[at(i)]);
  }
  return info;
}

template <class T, class S>
bool run_as(const LapackProblem& p, std::span<void* const> results, std::span<void* const> read) {
  const auto matrix = [&](size_t r) { return Matrix<T, S>(results[r], p.m, p.n); };
  const auto info = [&](size_t r) -> int32_t& { return *static_cast<int32_t*>(results[r]); };
  const int64_t order = p.side == 'L' ? p.m : p.n;
  switch (p.routine) {
    case LapackRoutine::kPotrf: {
      auto a = matrix(0);
      info(1) = factor_positive(a, p.uplo == 'L');
      a.write_back();
      return true;
    }
    case LapackRoutine::kGetrf: {
      auto a = matrix(0);
      info(2) = factor_with_pivots(a, static_cast<int32_t*>(results[1]));
      a.write_back();
      return true;
    }
    case LapackRoutine::kTrsm: {
      auto b = matrix(0);
      solve(Matrix<T, S>(read[0], order, order), p, b);
      b.write_back();
      return true;
    }
    case LapackRoutine::kGeqrf: {
      auto a = matrix(0);
      factor_orthogonal<T, S>(a, static_cast<T*>(results[1]));
      a.write_back();
      return true;
    }
    case LapackRoutine::kOrgqr: {
      auto a = matrix(0);
      make_orthogonal<T, S>(a, static_cast<const T*>(read[0]), p.k);
      a.write_back();
      return true;
    }
    case LapackRoutine::kOrmqr: {
      auto c = matrix(0);
      multiply_orthogonal<T, S>(Matrix<T, S>(read[0], order, p.k), static_cast<const T*>(read[1]), p, c);
      c.write_back();
      return true;
    }
    case LapackRoutine::kGtsv: {
      auto b = matrix(3);
      info(4) = solve_tridiagonal<T, S>(static_cast<T*>(results[0]), static_cast<T*>(results[1]),
                                        static_cast<T*>(results[2]), b);
      b.write_back();
      return true;
    }
    default: return false;
  }
}

}  // namespace

bool run_lapack_definition(const LapackProblem& problem, std::span<void* const> results, std::span<void* const> read) {
  switch (problem.type) {
    case ElementType::kF32: return run_as<float, double>(problem, results, read);
    case ElementType::kF64: return run_as<double, double>(problem, results, read);
    case ElementType::kC64: return run_as<Complex64, Complex128>(problem, results, read);
    default: return run_as<Complex128, Complex128>(problem, results, read);
  }
}

}  // namespace lowtide::engine
