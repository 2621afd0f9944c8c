#pragma once
/// The few routines of BLAS and LAPACK, column-major, that algorithms of our own are made of, which have several
/// threads call them side by side. Each computes in the calling thread. T: float or double.

#include <cstdint>

namespace lowtide::engine {

template <class T>
struct Blas {
  /// y = alpha op(a) x + beta y; a is rows x columns.
  static void gemv(char trans, int64_t rows, int64_t columns, T alpha, const T* a, int64_t lead, const T* x,
                   int64_t x_step, T beta, T* y, int64_t y_step);
  /// c = alpha op(a) op(b) + beta c; c is rows x columns.
  static void gemm(char trans_a, char trans_b, int64_t rows, int64_t columns, int64_t depth, T alpha, const T* a,
                   int64_t a_lead, const T* b, int64_t b_lead, T beta, T* c, int64_t c_lead);
  /// The reflector that makes (alpha, x) = (beta, 0), x of n - 1 elements: beta in alpha, v's rest in x. Returns tau.
  static T larfg(int64_t n, T* alpha, T* x, int64_t step);

  /// Workspace of stedc in elements, and in integers.
  static int64_t stedc_reals(int64_t n) { return 1 + 4 * n + n * n; }
  static int64_t stedc_integers(int64_t n) { return 3 + 5 * n; }
  /// Eigenvalues, ascending, and vectors (n x n) of a matrix of three diagonals. Returns info.
  static int32_t stedc(int64_t n, T* diagonal, T* beside, T* vectors, T* reals, int32_t* integers);
  /// Eigenvalues alone.
  static int32_t sterf(int64_t n, T* diagonal, T* beside);

  /// Workspace of bdsdc in elements, and in integers.
  static int64_t bdsdc_reals(int64_t n, bool vectors) { return vectors ? 3 * n * n + 4 * n : 8 * n; }
  static int64_t bdsdc_integers(int64_t n) { return 8 * n; }
  /// Singular values, descending, and vectors (n x n; the right ones in rows) of a matrix with an upper diagonal beside
  /// its own. left null: values alone. Returns info.
  static int32_t bdsdc(int64_t n, T* diagonal, T* beside, T* left, int64_t left_lead, T* right, int64_t right_lead,
                       T* reals, int32_t* integers);

  /// The product of `count` reflectors that larft has joined, h = 1 - v t v^T, or its transpose, times c from the left:
  /// v in columns, c of rows x columns. Or from the right of c: v in rows. work: `count` elements for each column of c,
  /// or for each row.
  static void larfb(char side, char trans, int64_t rows, int64_t columns, int64_t count, const T* v, int64_t v_lead,
                    const T* t, int64_t t_lead, T* c, int64_t c_lead, T* work);
};

}  // namespace lowtide::engine
