#pragma once
/// Linear algebra on matrices in the last two dimensions; the leading dimensions are a batch. Elements are float32 or
/// float64; systems, inv and tri_inv take complex64 as well, and eig takes float32 or complex64. Other types, and
/// matrices that must be square but aren't, are std::invalid_argument. Factors are LAPACK's. If a factor doesn't exist
/// (a matrix that isn't positive definite, an iteration that doesn't converge) its elements are NaN; singular systems
/// give infinities or NaN. Names are those of MLX's linalg.h.
///
/// Derivatives are the usual ones: the gradient of a symmetric matrix is symmetric, though only one triangle is read;
/// vectors of equal eigenvalues or singular values have no derivative (infinities); the LU factors of matrices that
/// aren't square, and eigenvectors of matrices that aren't symmetric, are refused.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/array.h"
#include "lowtide/visibility.h"

namespace lowtide::linalg {

/// Without axes: the vector norm of all elements, or, with a matrix norm's ord, the norm of a matrix. One axis: vector
/// norms, for which ord is any number, infinities included (0 counts what isn't 0). Two axes: matrix norms, for which
/// ord is 1, -1, 2, -2 or an infinity, or "fro", "f" (the root of the sum of squares) or "nuc" (the sum of singular
/// values).
LOWTIDE_PUBLIC array norm(const array& a, const double ord, const std::optional<std::vector<int>>& axis = {},
                          bool keepdims = false, StreamOrDevice s = {});
inline array norm(const array& a, const double ord, int axis, bool keepdims = false, StreamOrDevice s = {}) {
  return norm(a, ord, std::vector<int>{axis}, keepdims, s);
}
LOWTIDE_PUBLIC array norm(const array& a, const std::string& ord, const std::optional<std::vector<int>>& axis = {},
                          bool keepdims = false, StreamOrDevice s = {});
inline array norm(const array& a, const std::string& ord, int axis, bool keepdims = false, StreamOrDevice s = {}) {
  return norm(a, ord, std::vector<int>{axis}, keepdims, s);
}
LOWTIDE_PUBLIC array norm(const array& a, const std::optional<std::vector<int>>& axis = {}, bool keepdims = false,
                          StreamOrDevice s = {});
inline array norm(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {}) {
  return norm(a, std::vector<int>{axis}, keepdims, s);
}

/// (m, n) -> Q (m, k) with orthonormal columns and R (k, n), which is 0 below the diagonal; k = min(m, n).
LOWTIDE_PUBLIC std::pair<array, array> qr(const array& a, StreamOrDevice s = {});
/// (m, n) -> U (m, m), singular values (k), descending, V^T (n, n); or only the singular values.
LOWTIDE_PUBLIC std::vector<array> svd(const array& a, bool compute_uv, StreamOrDevice s = {});
inline std::vector<array> svd(const array& a, StreamOrDevice s = {}) { return svd(a, true, s); }
LOWTIDE_PUBLIC array inv(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array tri_inv(const array& a, bool upper = false, StreamOrDevice s = {});  ///< reads one triangle
/// L of a = L L^T, or U of a = U^T U; reads only that triangle; the other triangle of the result is 0.
LOWTIDE_PUBLIC array cholesky(const array& a, bool upper = false, StreamOrDevice s = {});
/// (m, n) -> (n, m), from the singular values above 10 max(m, n) eps times the largest.
LOWTIDE_PUBLIC array pinv(const array& a, StreamOrDevice s = {});
/// The inverse of the matrix whose Cholesky factor is a.
LOWTIDE_PUBLIC array cholesky_inv(const array& a, bool upper = false, StreamOrDevice s = {});
/// (m, n) -> p (m) uint32, L (m, k) with ones on its diagonal, U (k, n): a consists of the rows p of L U.
LOWTIDE_PUBLIC std::vector<array> lu(const array& a, StreamOrDevice s = {});
/// L and U in one matrix, and the row with which each row was exchanged in turn (from 0, uint32).
LOWTIDE_PUBLIC std::pair<array, array> lu_factor(const array& a, StreamOrDevice s = {});
/// Solves a x = b for x: b is a vector of one dimension, or matrices, each of whose columns is a right-hand side.
LOWTIDE_PUBLIC array solve(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array solve_triangular(const array& a, const array& b, bool upper = false, StreamOrDevice s = {});
/// The cross product of vectors of two or three elements along an axis (with two, the third is 0); for two pairs it is
/// the third element only.
LOWTIDE_PUBLIC array cross(const array& a, const array& b, int axis = -1, StreamOrDevice s = {});
/// complex64 eigenvalues (n) and unit eigenvectors in columns, for float32 or complex64.
LOWTIDE_PUBLIC std::pair<array, array> eig(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array eigvals(const array& a, StreamOrDevice s = {});
/// Eigenvalues of symmetric matrices, ascending, and orthonormal eigenvectors in columns; only the triangle UPLO is
/// read.
LOWTIDE_PUBLIC std::pair<array, array> eigh(const array& a, std::string UPLO = "L", StreamOrDevice s = {});
LOWTIDE_PUBLIC array eigvalsh(const array& a, std::string UPLO = "L", StreamOrDevice s = {});
LOWTIDE_PUBLIC array det(const array& a, StreamOrDevice s = {});
/// The sign of the determinant and the logarithm of its absolute value: 0 and -infinity if it is 0.
LOWTIDE_PUBLIC std::pair<array, array> slogdet(const array& a, StreamOrDevice s = {});

}  // namespace lowtide::linalg
