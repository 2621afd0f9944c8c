// lowtide.linalg.
#include "lowtide/linalg.h"

#include "bind.h"

namespace lowtide::python {
namespace {

using Order = std::optional<std::variant<double, std::string>>;

array norm_of(const array& a, const Order& ord, const Axes& axis, bool keepdims) {
  const std::optional<std::vector<int>> axes = axis ? std::optional(axes_of(*axis)) : std::nullopt;
  if (!ord) return linalg::norm(a, axes, keepdims);
  return std::visit([&](const auto& by) { return linalg::norm(a, by, axes, keepdims); }, *ord);
}

using Triangle = array (*)(const array&, bool, StreamOrDevice);
constexpr std::tuple<const char*, Triangle, const char*> kTriangles[] = {
    {"tri_inv", linalg::tri_inv, "The inverse of a triangular matrix, of which one triangle is read."},
    {"cholesky", linalg::cholesky, "L of a = L L^T, or U of a = U^T U; NaN where there is none."},
    {"cholesky_inv", linalg::cholesky_inv, "The inverse of the matrix of which a is the factor."},
};
using Halves = std::pair<array, array> (*)(const array&, StreamOrDevice);
constexpr std::tuple<const char*, Halves, const char*> kPairs[] = {
    {"qr", linalg::qr, "(m, n) -> Q (m, k) with orthonormal columns, R (k, n); k = min(m, n)."},
    {"eig", linalg::eig, "complex64 eigenvalues, and vectors of length 1 in columns."},
    {"slogdet", linalg::slogdet, "The sign of the determinant, and the logarithm of its size."},
    {"lu_factor", linalg::lu_factor, "L and U in one matrix; the row with which each was exchanged in turn, uint32."},
};

}  // namespace

void bind_linalg(nb::module_& m) {
  m.def("norm", of_array<Order, Axes, bool>(norm_of), "a"_a, "ord"_a = nb::none(), "axis"_a = nb::none(),
        "keepdims"_a = false,
        "Of vectors along one axis, ord any number; of matrices in two, ord 1, -1, 2, -2, an infinity, \"fro\", "
        "\"nuc\".");
  unary(m, "inv", linalg::inv, "The inverse; infinite or NaN where there is none.");
  unary(m, "pinv", linalg::pinv, "(m, n) -> (n, m), by singular values above 10 max(m, n) eps of the largest.");
  unary(m, "eigvals", linalg::eigvals, "complex64 eigenvalues.");
  unary(m, "det", linalg::det, "The determinant.");
  binary(m, "solve", linalg::solve, "x of a x = b: b is a vector, or matrices whose columns are solved for.");
  for (const auto& [name, f, doc] : kTriangles)
    m.def(name, of_array<bool>([f = f](const array& a, bool upper) { return f(a, upper, kHere); }), "a"_a,
          "upper"_a = false, doc);
  for (const auto& [name, f, doc] : kPairs)
    m.def(name, of_array([f = f](const array& a) { return f(a, kHere); }), "a"_a, doc);
  m.def("solve_triangular", of_arrays<bool>([](const array& a, const array& b, bool upper) {
          return linalg::solve_triangular(a, b, upper);
        }),
        "a"_a, "b"_a, "upper"_a = false, "x of a x = b, where a is triangular.");
  m.def(
      "svd",
      [](const ArrayLike& a, bool compute_uv) {
        const array x = array_of(a);
        std::vector<array> parts = unlocked([&] { return linalg::svd(x, compute_uv); });
        return compute_uv ? nb::object(nb::tuple(nb::cast(parts))) : nb::cast(parts[0]);
      },
      "a"_a, "compute_uv"_a = true, nb::sig("def svd(a: ArrayLike, compute_uv: bool = True) -> typing.Any"),
      "(m, n) -> U (m, m), singular values, descending, V^T (n, n); or the values alone.");
  m.def("lu", of_array([](const array& a) {
          std::vector<array> parts = linalg::lu(a);
          return std::tuple(parts[0], parts[1], parts[2]);
        }),
        "a"_a, "(m, n) -> rows p (m) uint32, L (m, k) with ones on its diagonal, U (k, n): a[p] is L U.");
  m.def("cross", of_arrays<int>([](const array& a, const array& b, int axis) { return linalg::cross(a, b, axis); }),
        "a"_a, "b"_a, "axis"_a = -1, "Of vectors of two or three elements along an axis.");
  m.def("eigh", of_array<std::string>([](const array& a, const std::string& half) { return linalg::eigh(a, half); }),
        "a"_a, "UPLO"_a = "L", "Eigenvalues, ascending, of symmetric matrices, and orthonormal vectors in columns.");
  m.def("eigvalsh",
        of_array<std::string>([](const array& a, const std::string& half) { return linalg::eigvalsh(a, half); }), "a"_a,
        "UPLO"_a = "L", "Eigenvalues, ascending, of symmetric matrices, of which UPLO says the triangle that is read.");
}

}  // namespace lowtide::python
