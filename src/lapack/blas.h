#pragma once
/// The few routines of BLAS and LAPACK, column-major, that algorithms of our own are made of, which have several
/// threads call them side by side. Each computes in the calling thread. T: float or double.

#include <cstdint>

namespace lowtide::engine {

template <class T>
struct Blas {
  /// y = alpha op(a) x + beta y; a is rows x columns. Of an empty one y stays as it is.
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
  static int32_t stedc(int64_t n, T* diagonal, T* beside, T* vectors, int64_t lead, T* reals, int32_t* integers);
  /// Two neighbouring solutions become one, where `joint` stood beside both diagonals: what is deflated stays in the
  /// last columns of q, sorted, and `count` poles, with their weights and the columns that belong to them, remain.
  struct Deflation {
    int32_t count = 0;
    T joint;             ///< divided so that the weights are of length 1
    T *poles, *weights;  ///< n, n
    T* columns;          ///< n^2, packed: those with a first half, then those with a second half
    int32_t *indices, *grouped, *groups, *order;  ///< n each; grouped: poles by their columns, groups: how many of each
  };
  /// As laed2; z of n elements is used up. sorted: for each half the order of its diagonal, from 1.
  static void laed2(int64_t n, int64_t first, T* diagonal, T* q, int64_t q_lead, int32_t* sorted, T* z, Deflation& to);
  /// Root j, from 0, of the secular equation: its distances to all poles, and its place. Returns info.
  static int32_t laed4(const Deflation& of, int64_t j, T* distances, T* root);
  /// The ascending order of an ascending run followed by a descending one; indices from 1.
  static void lamrg(int64_t ascending, int64_t descending, const T* values, int32_t* order);

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
