// Linear algebra by factorisations (factors.cpp), and norms.
#include "lowtide/linalg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arrays/support.h"
#include "lowtide/ops.h"
#include "lowtide/transforms.h"

namespace lowtide::linalg {

using namespace lazy;

namespace {

void check_matrices(std::string_view name, const array& a, bool also_complex = false) {
  const bool fits = a.dtype().val == Dtype::Val::float32 || a.dtype().val == Dtype::Val::float64 ||
                    (also_complex && a.dtype().val == Dtype::Val::complex64);
  if (!fits)
    fault(name, "found {}, expected float32{}", dtype_to_string(a.dtype()),
          also_complex ? ", float64 or complex64" : " or float64");
  if (a.ndim() < 2) fault(name, "found an array of shape {}, expected matrices", to_string(a.shape()));
}
void check_square(std::string_view name, const array& a, bool also_complex = false) {
  check_matrices(name, a, also_complex);
  if (a.shape(-1) != a.shape(-2)) fault(name, "found the shape {}, expected square matrices", to_string(a.shape()));
}

array turned(const array& a, StreamOrDevice s) { return swapaxes(a, -1, -2, s); }
array diagonal_of(const array& a, StreamOrDevice s) { return diagonal(a, 0, -2, -1, s); }
array whole_eye(const array& like, StreamOrDevice s) {
  return broadcast_to(eye(static_cast<int>(like.shape(-1)), like.dtype(), s), like.shape(), s);
}
/// The rows p of each matrix.
array rows_at(const array& a, const array& p, StreamOrDevice s) {
  return take_along_axis(a, broadcast_to(expand_dims(p, -1, s), a.shape(), s), -2, s);
}
array part(const array& a, int64_t rows, int64_t columns, StreamOrDevice s) {
  Dims stops = a.shape();
  stops[stops.size() - 2] = rows;
  stops.back() = columns;
  return slice_of(a, Dims(a.ndim(), 0), stops, Dims(a.ndim(), 1), s);
}
array lower_of(const array& factors, StreamOrDevice s) {
  const int64_t m = factors.shape(-2), n = factors.shape(-1), few = std::min(m, n);
  return tril(part(factors, m, few, s), -1, s) + eye(static_cast<int>(m), static_cast<int>(few), 0, factors.dtype(), s);
}

/// Broadcasts the leading dimensions of both; b consists of matrices.
std::pair<array, array> alike(std::string_view name, const array& a, const array& b, StreamOrDevice s) {
  const Shape of_a(a.shape().begin(), a.shape().end() - 2), of_b(b.shape().begin(), b.shape().end() - 2);
  const Shape leading = broadcast_shape(name, of_a, of_b);
  const auto whole = [&](const array& x) {
    Shape shape = leading;
    shape.insert(shape.end(), x.shape().end() - 2, x.shape().end());
    return broadcast_to(x, shape, s);
  };
  return {whole(a), whole(b)};
}

/// Common handling in solvers: vectors as matrices of one column, type promotion, and broadcasting of batches.
template <class F>
array solved(std::string_view name, const array& a, const array& b, StreamOrDevice s, F&& systems) {
  if (b.ndim() == 0) fault(name, "found a scalar to solve for");
  const Dtype dtype = promote_types(a.dtype(), b.dtype());
  const array matrix = as_type(a, dtype, s);
  check_square(name, matrix, true);
  const array columns = as_type(b.ndim() == 1 ? expand_dims(b, -1, s) : b, dtype, s);
  if (columns.shape(-2) != a.shape(-1))
    fault(name, "found the shapes {} and {}, whose extents differ", to_string(a.shape()), to_string(b.shape()));
  const auto [left, right] = alike(name, matrix, columns, s);
  const array x = systems(left, right);
  return b.ndim() == 1 ? squeeze(x, -1, s) : x;
}

array solved_by_lu(const array& a, const array& b, StreamOrDevice s) {
  const std::vector<array> factors = factors_of(a, Factors::kLu, s);
  const array moved = rows_at(b, permutation_of(factors[1], a.shape(-1), s), s);
  const array y =
      triangular_solve(factors[0], moved, {.left = true, .lower = true, .unit = true, .transposed = false}, s);
  return triangular_solve(factors[0], y, {.left = true, .lower = false, .unit = false, .transposed = false}, s);
}

/// Solves a x = b for x. Its derivative solves systems with the transposed matrix, not through the factorisation.
array system(const array& a, const array& b, StreamOrDevice s) {
  const ManyToMany by_lu = [s](const std::vector<array>& in) {
    return std::vector<array>{solved_by_lu(in[0], in[1], s)};
  };
  const auto derivative = [s](const std::vector<array>& in, const std::vector<array>& c, const std::vector<array>& x) {
    const array of_b = system(turned(in[0], s), c[0], s);
    return std::vector<array>{negative(matmul(of_b, turned(x[0], s), s), s), of_b};
  };
  return custom_vjp(by_lu, derivative)({a, b})[0];
}

}  // namespace

std::pair<array, array> qr(const array& a, StreamOrDevice s) {
  check_matrices("qr", a);
  const int64_t m = a.shape(-2), n = a.shape(-1);
  if (m >= n) {
    const std::vector<array> made = factors_of(a, Factors::kQr, s);
    return {made[0], made[1]};
  }
  const std::vector<array> made = factors_of(part(a, m, m, s), Factors::kQr, s);
  Dims starts(a.ndim(), 0);
  starts.back() = m;
  const array rest = slice_of(a, starts, a.shape(), Dims(a.ndim(), 1), s);
  return {made[0], join({made[1], matmul(turned(made[0], s), rest, s)}, static_cast<int64_t>(a.ndim()) - 1, s)};
}

std::vector<array> svd(const array& a, bool compute_uv, StreamOrDevice s) {
  check_matrices("svd", a);
  return factors_of(a, compute_uv ? Factors::kSingular : Factors::kSingularValues, s);
}

array inv(const array& a, StreamOrDevice s) {
  check_square("inv", a, true);
  return system(a, whole_eye(a, s), s);
}
array tri_inv(const array& a, bool upper, StreamOrDevice s) {
  check_square("tri_inv", a, true);
  return triangular_solve(a, whole_eye(a, s), {.left = true, .lower = !upper, .unit = false, .transposed = false}, s);
}
array cholesky(const array& a, bool upper, StreamOrDevice s) {
  check_square("cholesky", a);
  return upper ? turned(cholesky_factor(turned(a, s), s), s) : cholesky_factor(a, s);
}
array cholesky_inv(const array& a, bool upper, StreamOrDevice s) {
  check_square("cholesky_inv", a);
  const array inverse = tri_inv(a, upper, s);
  return upper ? matmul(inverse, turned(inverse, s), s) : matmul(turned(inverse, s), inverse, s);
}

array pinv(const array& a, StreamOrDevice s) {
  check_matrices("pinv", a);
  const ManyToMany by_svd = [s](const std::vector<array>& in) {
    const array& x = in[0];
    const int64_t m = x.shape(-2), n = x.shape(-1), few = std::min(m, n);
    const std::vector<array> made = svd(x, true, s);
    const double eps = x.dtype().val == Dtype::Val::float64 ? std::numeric_limits<double>::epsilon()
                                                            : std::numeric_limits<float>::epsilon();
    const array least = max(made[1], -1, true, s) * constant(10 * static_cast<double>(std::max(m, n)) * eps, x.dtype());
    const array kept = greater(made[1], least, s), one = ones_like(made[1], s);
    const array inverse = where(kept, divide(one, where(kept, made[1], one, s), s), zeros_like(one, s), s);
    const array v = turned(part(made[2], few, n, s), s), u = part(made[0], m, few, s);
    return std::vector<array>{matmul(v * expand_dims(inverse, -2, s), turned(u, s), s)};
  };
  // Golub and Pereyra: The differentiation of pseudo-inverses and nonlinear least squares problems (1973).
  const auto derivative = [s](const std::vector<array>& in, const std::vector<array>& c,
                              const std::vector<array>& out) {
    const array &x = in[0], &p = out[0], pt = turned(p, s), ct = turned(c[0], s);
    const array first = matmul(matmul(pt, c[0], s), pt, s);
    const array left = matmul(ct, matmul(p, pt, s), s), right = matmul(matmul(pt, p, s), ct, s);
    return std::vector<array>{left - matmul(x, matmul(p, left, s), s) + right - matmul(matmul(right, p, s), x, s) -
                              first};
  };
  return custom_vjp(by_svd, derivative)({a})[0];
}

std::pair<array, array> lu_factor(const array& a, StreamOrDevice s) {
  check_matrices("lu_factor", a);
  const std::vector<array> made = factors_of(a, Factors::kLu, s);
  return {made[0], as_type(made[1], uint32, s)};
}
std::vector<array> lu(const array& a, StreamOrDevice s) {
  check_matrices("lu", a);
  const std::vector<array> made = factors_of(a, Factors::kLu, s);
  const int64_t m = a.shape(-2), n = a.shape(-1);
  return {argsort(permutation_of(made[1], m, s), -1, s), lower_of(made[0], s),
          triu(part(made[0], std::min(m, n), n, s), 0, s)};
}

array solve(const array& a, const array& b, StreamOrDevice s) {
  return solved("solve", a, b, s, [s](const array& x, const array& y) { return system(x, y, s); });
}
array solve_triangular(const array& a, const array& b, bool upper, StreamOrDevice s) {
  return solved("solve_triangular", a, b, s, [s, upper](const array& x, const array& y) {
    return triangular_solve(x, y, {.left = true, .lower = !upper, .unit = false, .transposed = false}, s);
  });
}

array cross(const array& a, const array& b, int axis, StreamOrDevice s) {
  const Dtype dtype = promote_types(a.dtype(), b.dtype());
  const array x = moveaxis(as_type(a, dtype, s), axis, -1, s), y = moveaxis(as_type(b, dtype, s), axis, -1, s);
  for (const array* each : {&x, &y}) {
    if (each->shape(-1) != 2 && each->shape(-1) != 3)
      fault("cross", "found vectors of {} elements, expected two or three", each->shape(-1));
  }
  const auto element = [&](const array& v, int k) {
    return k < v.shape(-1) ? take(v, k, -1, s) : constant(0, dtype, Shape(v.shape().begin(), v.shape().end() - 1), s);
  };
  const auto turn = [&](int i, int j) { return element(x, i) * element(y, j) - element(x, j) * element(y, i); };
  if (x.shape(-1) == 2 && y.shape(-1) == 2) return turn(0, 1);
  return moveaxis(stack({turn(1, 2), turn(2, 0), turn(0, 1)}, -1, s), -1, axis, s);
}

namespace {
void check_general(std::string_view name, const array& a) {
  check_square(name, a, true);
  if (a.dtype().val == Dtype::Val::float64) fault(name, "found float64, expected float32 or complex64");
}
array one_triangle(std::string_view name, const array& a, const std::string& which, StreamOrDevice s) {
  check_square(name, a);
  if (which != "L" && which != "U") fault(name, "found the triangle \"{}\", expected \"L\" or \"U\"", which);
  return which == "L" ? a : turned(a, s);
}
}  // namespace

std::pair<array, array> eig(const array& a, StreamOrDevice s) {
  check_general("eig", a);
  const std::vector<array> made = factors_of(a, Factors::kGeneral, s);
  return {made[0], made[1]};
}
array eigvals(const array& a, StreamOrDevice s) {
  check_general("eigvals", a);
  return factors_of(a, Factors::kGeneralValues, s)[0];
}
std::pair<array, array> eigh(const array& a, std::string UPLO, StreamOrDevice s) {
  const std::vector<array> made = factors_of(one_triangle("eigh", a, UPLO, s), Factors::kSymmetric, s);
  return {made[0], made[1]};
}
array eigvalsh(const array& a, std::string UPLO, StreamOrDevice s) {
  return factors_of(one_triangle("eigvalsh", a, UPLO, s), Factors::kSymmetricValues, s)[0];
}

namespace {
/// The sign of the permutation: -1 for an odd number of row exchanges, 1 otherwise.
array parity(const array& pivots, Dtype dtype, StreamOrDevice s) {
  const auto last = static_cast<int64_t>(pivots.ndim()) - 1;
  const array moved = as_type(not_equal(pivots, counter(pivots.shape(), int32, last, s), s), int32, s);
  const array odd = remainder(sum(moved, -1, false, s), constant(2, int32, {}, s), s);
  return as_type(constant(1, int32, {}, s) - odd - odd, dtype, s);
}
}  // namespace

array det(const array& a, StreamOrDevice s) {
  check_square("det", a);
  const std::vector<array> made = factors_of(a, Factors::kLu, s);
  return parity(made[1], a.dtype(), s) * prod(diagonal_of(made[0], s), -1, false, s);
}
std::pair<array, array> slogdet(const array& a, StreamOrDevice s) {
  check_square("slogdet", a);
  const std::vector<array> made = factors_of(a, Factors::kLu, s);
  const array on = diagonal_of(made[0], s);
  return {parity(made[1], a.dtype(), s) * prod(sign(on, s), -1, false, s),
          sum(log(lowtide::abs(on, s), s), -1, false, s)};
}

namespace {

array sizes(const array& a, StreamOrDevice s) { return lowtide::abs(to_float(a, s), s); }

/// The root of the sum of squares.
array euclidean(const array& size, const std::vector<int>& axes, bool keepdims, StreamOrDevice s) {
  return sqrt(sum(square(size, s), axes, keepdims, s), s);
}

array norm_of_vectors(const array& a, double ord, const std::vector<int>& axes, bool keepdims, StreamOrDevice s) {
  const array size = sizes(a, s);
  if (ord == 0)
    return as_type(sum(not_equal(size, constant(0, size.dtype(), {}, s), s), axes, keepdims, s), size.dtype(), s);
  if (ord == 1) return sum(size, axes, keepdims, s);
  if (ord == 2) return euclidean(size, axes, keepdims, s);
  if (std::isinf(ord)) return ord > 0 ? max(size, axes, keepdims, s) : min(size, axes, keepdims, s);
  const auto number = [&](double value) { return constant(value, size.dtype(), {}, s); };
  return power(sum(power(size, number(ord), s), axes, keepdims, s), number(1 / ord), s);
}

array singular_values(const array& a, const std::vector<int>& axes, StreamOrDevice s) {
  const array back = moveaxis(a, axes[0], -1, s);
  const int64_t second = axis_of("norm", axes[1], a.ndim()), first = axis_of("norm", axes[0], a.ndim());
  return svd(moveaxis(back, static_cast<int>(second > first ? second - 1 : second), -1, s), false, s)[0];
}

array with_axes(const array& a, const std::vector<int>& axes, size_t rank, bool keepdims, StreamOrDevice s) {
  if (!keepdims) return a;
  std::vector<int> places;
  for (const int64_t d : axes_of("norm", axes, rank)) places.push_back(static_cast<int>(d));
  return expand_dims(a, places, s);
}

array norm_of_matrices(const array& a, double ord, const std::vector<int>& axes, bool keepdims, StreamOrDevice s) {
  const bool least = ord < 0;
  const auto most = [&](const array& x, int axis, bool keep) {
    return least ? min(x, axis, keep, s) : max(x, axis, keep, s);
  };
  if (std::fabs(ord) == 2)
    return with_axes(most(singular_values(to_float(a, s), axes, s), -1, false), axes, a.ndim(), keepdims, s);
  if (std::fabs(ord) != 1 && !std::isinf(ord))
    fault("norm", "found the order {} of matrices, expected 1, 2 or infinity, or a negative of them", ord);
  const bool of_columns = std::fabs(ord) == 1;
  const array sums = sum(sizes(a, s), of_columns ? axes[0] : axes[1], true, s);
  const array made = most(sums, of_columns ? axes[1] : axes[0], true);
  return keepdims ? made : squeeze(made, axes, s);
}

/// The given axes; without any, those of the whole array.
std::vector<int> axes_or_all(const array& a, const std::optional<std::vector<int>>& axes) {
  if (axes) {
    (void)axes_of("norm", *axes, a.ndim());
    return *axes;
  }
  std::vector<int> all(a.ndim());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

array norm(const array& a, const std::optional<std::vector<int>>& axis, bool keepdims, StreamOrDevice s) {
  const std::vector<int> axes = axes_or_all(a, axis);
  if (axis && axes.size() > 2) fault("norm", "found {} axes, expected one or two", axes.size());
  return euclidean(sizes(a, s), axes, keepdims, s);
}
array norm(const array& a, const double ord, const std::optional<std::vector<int>>& axis, bool keepdims,
           StreamOrDevice s) {
  const std::vector<int> axes = axes_or_all(a, axis);
  if (axes.size() == 1) return norm_of_vectors(a, ord, axes, keepdims, s);
  if (axes.size() == 2) return norm_of_matrices(a, ord, axes, keepdims, s);
  fault("norm", "found the order {} of {} axes, expected one or two", ord, axes.size());
}
array norm(const array& a, const std::string& ord, const std::optional<std::vector<int>>& axis, bool keepdims,
           StreamOrDevice s) {
  const std::vector<int> axes = axes_or_all(a, axis);
  if (axes.size() != 2) fault("norm", "found the order \"{}\" of {} axes, expected two", ord, axes.size());
  if (ord == "fro" || ord == "f") return euclidean(sizes(a, s), axes, keepdims, s);
  if (ord != "nuc") fault("norm", "found the order \"{}\", expected \"fro\", \"f\" or \"nuc\"", ord);
  return with_axes(sum(singular_values(to_float(a, s), axes, s), -1, false, s), axes, a.ndim(), keepdims, s);
}

}  // namespace lowtide::linalg
