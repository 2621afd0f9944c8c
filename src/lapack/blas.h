#pragma once
/// The few column-major BLAS and LAPACK routines that this code base's own multi-threaded algorithms call from several
/// threads at once. Each call computes in the calling thread. T: float or double.

#include <cstdint>

namespace lowtide::engine {

template <class T>
struct Blas {
  /// y = alpha op(a) x + beta y; a is rows x columns. If a is empty, y stays unchanged.
  static void gemv(char trans, int64_t rows, int64_t columns, T alpha, const T* a, int64_t lead, const T* x,
                   int64_t x_step, T beta, T* y, int64_t y_step);
  /// c = alpha op(a) op(b) + beta c; c is rows x columns.
  static void gemm(char trans_a, char trans_b, int64_t rows, int64_t columns, int64_t depth, T alpha, const T* a,
                   int64_t a_lead, const T* b, int64_t b_lead, T beta, T* c, int64_t c_lead);
  /// The reflector that maps (alpha, x), x of n - 1 elements, to (beta, 0): stores beta in alpha and v's rest in x.
  /// Returns tau.
  static T larfg(int64_t n, T* alpha, T* x, int64_t step);

  /// Workspace of stedc in elements, and in integers.
  static int64_t stedc_reals(int64_t n) { return 1 + 4 * n + n * n; }
  static int64_t stedc_integers(int64_t n) { return 3 + 5 * n; }
  /// Eigenvalues, ascending, and eigenvectors (n x n) of a tridiagonal matrix with off-diagonal `beside`. Returns info.
  static int32_t stedc(int64_t n, T* diagonal, T* beside, T* vectors, int64_t lead, T* reals, int32_t* integers);
  /// The joint problem of two adjacent solved parts, with `joint` the off-diagonal element between them: deflated
  /// eigenvectors stay in the last columns of q, sorted; `count` poles remain, with their weights and columns of q.
  struct Deflation {
    int32_t count = 0;
    T joint;             ///< scaled so that the weight vector has length 1
    T *poles, *weights;  ///< n, n
    T* columns;          ///< n^2, packed: upper halves of columns, then lower halves, without those that are zero
    int32_t *indices, *grouped, *groups, *order;  ///< n each; grouped: poles by group of columns, groups: their sizes
  };
  /// As laed2; z of n elements is overwritten. sorted: for each half the ascending order of its diagonal, from 1.
  static void laed2(int64_t n, int64_t first, T* diagonal, T* q, int64_t q_lead, int32_t* sorted, T* z, Deflation& to);
  /// Root j, from 0, of the secular equation: its distances to all poles, and its value. Returns info.
  static int32_t laed4(const Deflation& of, int64_t j, T* distances, T* root);
  /// The ascending order of an ascending run followed by a descending one; indices from 1.
  static void lamrg(int64_t ascending, int64_t descending, const T* values, int32_t* order);

  /// Eigenvalues without eigenvectors.
  static int32_t sterf(int64_t n, T* diagonal, T* beside);

  /// Workspace of bdsdc in elements, and in integers.
  static int64_t bdsdc_reals(int64_t n, bool vectors) { return vectors ? 3 * n * n + 4 * n : 8 * n; }
  static int64_t bdsdc_integers(int64_t n) { return 8 * n; }
  /// Singular values, descending, and singular vectors (n x n; the right ones in rows) of an upper bidiagonal matrix
  /// with superdiagonal `beside`. left null: values only. Returns info.
  static int32_t bdsdc(int64_t n, T* diagonal, T* beside, T* left, int64_t left_lead, T* right, int64_t right_lead,
                       T* reals, int32_t* integers);

  /// Applies h = 1 - v t v^T, the product of `count` reflectors with t as computed by larft, or its transpose, to c of
  /// rows x columns: from the left, with v in columns, or from the right, with v in rows. work: `count` elements for
  /// each column of c, or for each row.
  static void larfb(char side, char trans, int64_t rows, int64_t columns, int64_t count, const T* v, int64_t v_lead,
                    const T* t, int64_t t_lead, T* c, int64_t c_lead, T* work);
};

}  // namespace lowtide::engine
