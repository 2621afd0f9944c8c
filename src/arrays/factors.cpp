// Factorisations of matrices by LAPACK, and their derivatives; X' denotes the cotangent of X. The derivatives of LU,
// QR, eigenvalues and singular values are those of Giles (Collected matrix derivative results for forward and reverse
// mode algorithmic differentiation, 2008) and Townsend (Differentiating the singular value decomposition, 2016).
#include <fmt/format.h>

#include <algorithm>

#include "arrays/primitives.h"
#include "arrays/support.h"
#include "lowtide/control.h"
#include "lowtide/linalg.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

array turned(const array& a) { return swapaxes(a, -1, -2); }
array half_of(const array& a) { return a * constant(0.5, a.dtype()); }
array symmetric(const array& a) { return half_of(a + turned(a)); }
array column(const array& a) { return expand_dims(a, -1); }
array row(const array& a) { return expand_dims(a, -2); }
array diagonal_of(const array& a) { return eye(static_cast<int>(a.shape(-1)), a.dtype()) * row(a); }
/// 1 / (x_j - x_i) at [i, j], 0 on the diagonal.
array inverse_distances(const array& x) {
  const array on = eye(static_cast<int>(x.shape(-1)), x.dtype());
  return (constant(1, x.dtype()) - on) / (row(x) - column(x) + on);
}
array first_columns(const array& a, int64_t count) {
  Dims stops = a.shape();
  stops.back() = count;
  return slice_of(a, Dims(a.ndim(), 0), stops, Dims(a.ndim(), 1));
}

/// The layout of LAPACK's column-major matrices: rows are the minor dimension.
std::string in_columns(const Term& a, size_t extents) {
  std::vector<int64_t> order;
  for (auto d = static_cast<int64_t>(a.shape.size()); d-- > 0;) order.push_back(d);
  if (extents == 2) std::swap(order[0], order[1]);
  return fmt::format("{}[{}]{}", hlo_type(a.dtype), fmt::join(a.shape, ","), list_text(order));
}

/// ranks: of each operand, 2 for a matrix and 1 for a vector.
std::vector<Term> lapack(Lowering& to, std::string_view routine, const std::vector<Term>& in, std::vector<size_t> ranks,
                         const std::vector<Spec>& out, std::string_view config) {
  const Dtype dtype = in[0].dtype;
  const char letter = dtype.val == Dtype::Val::float32 ? 's' : dtype.val == Dtype::Val::float64 ? 'd' : 'c';
  std::string layouts;
  for (size_t i = 0; i < in.size(); ++i) layouts += (i > 0 ? ", " : "") + in_columns(in[i], ranks[i]);
  const Attributes attributes = {{"custom_call_target", fmt::format("\"lapack_{}{}_ffi\"", letter, routine)},
                                 {"operand_layout_constraints", "{" + layouts + "}"},
                                 {"api_version", "API_VERSION_TYPED_FFI"},
                                 {"backend_config", fmt::format("{{{}}}", config)}};
  if (out.size() == 1) return {to.add("custom-call", in, attributes, out[0].shape, out[0].dtype)};
  return to.add_tuple("custom-call", in, attributes, out);
}

/// Replaces a result by NaN where the routine reports a failure.
Term where_found(Lowering& to, const Term& info, const Term& a) {
  std::vector<int64_t> dimensions;
  for (size_t d = 0; d < info.shape.size(); ++d) dimensions.push_back(static_cast<int64_t>(d));
  const Term found = to.compare(info, to.constant(0, int32, info.shape), "EQ");
  return to.select(to.broadcast(found, a.shape, dimensions), a, to.constant(NAN, a.dtype, a.shape));
}

class Cholesky final : public Primitive {
 public:
  std::string_view name() const override { return "cholesky"; }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    return {to.add("cholesky", in, {{"lower", "true"}}, out[0].shape, out[0].dtype)};
  }
  /// L^-T phi(L^T L') L^-1, with phi the lower triangle and half of the diagonal.
  Gradients vjp(const Backward& b) const override {
    const array& l = b.outputs[0];
    const array all = matmul(turned(l), b.cotangents[0]);
    const array lower = tril(all, -1) + half_of(tril(all) - tril(all, -1));
    const array above = triangular_solve(l, lower, {.left = true, .lower = true, .unit = false, .transposed = true});
    return {symmetric(triangular_solve(l, above, {.left = false, .lower = true, .unit = false, .transposed = false}))};
  }
  std::vector<array> vmap(const Batch& batch) const override { return {cholesky_factor(batch.inputs[0])}; }
};

class TriangularSolve final : public Primitive {
 public:
  explicit TriangularSolve(const TriangleDims& dims) : dims_(dims) {}
  std::string_view name() const override { return "triangular_solve"; }
  void describe(Key& key) const override {
    key.number(dims_.left | dims_.lower << 1 | dims_.unit << 2 | dims_.transposed << 3);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    const auto text = [](bool yes) { return yes ? "true" : "false"; };
    return {to.add("triangular-solve", in,
                   {{"left_side", text(dims_.left)},
                    {"lower", text(dims_.lower)},
                    {"unit_diagonal", text(dims_.unit)},
                    {"transpose_a", dims_.transposed ? "TRANSPOSE" : "NO_TRANSPOSE"}},
                   out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    TriangleDims back = dims_;
    back.transposed = !back.transposed;
    const array of_b = triangular_solve(b.inputs[0], b.cotangents[0], back);
    Gradients gradients = {std::nullopt, of_b};
    if (b.wanted[0]) {
      const array &x = b.outputs[0], product = dims_.left ? matmul(of_b, turned(x)) : matmul(turned(x), of_b);
      const array of_op = negative(dims_.transposed ? turned(product) : product);
      const int inside = dims_.unit ? 1 : 0;
      gradients[0] = dims_.lower ? tril(of_op, -inside) : triu(of_op, inside);
    }
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    return {triangular_solve(with_batch(batch.inputs[0], batch.batched[0], batch.count),
                             with_batch(batch.inputs[1], batch.batched[1], batch.count), dims_)};
  }

 private:
  TriangleDims dims_;
};

struct Extents {
  Shape leading;
  int64_t rows, columns, few;
  Shape matrix(int64_t m, int64_t n) const {
    Shape shape = leading;
    shape.insert(shape.end(), {m, n});
    return shape;
  }
  Shape vector(int64_t n) const {
    Shape shape = leading;
    shape.push_back(n);
    return shape;
  }
};

Extents extents_of(const Shape& shape) {
  const int64_t m = shape[shape.size() - 2], n = shape.back();
  return {Shape(shape.begin(), shape.end() - 2), m, n, std::min(m, n)};
}

class FactorsOf final : public Primitive {
 public:
  explicit FactorsOf(Factors kind) : kind_(kind) {}
  std::string_view name() const override {
    constexpr std::string_view kNames[] = {"lu", "qr", "eigh", "eigvalsh", "svd", "svd values", "eig", "eigvals"};
    return kNames[static_cast<int>(kind_)];
  }

  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    const Term& a = in[0];
    const Dtype dtype = a.dtype;
    const Extents e = extents_of(a.shape);
    const int64_t m = e.rows, n = e.columns;
    const Spec info{e.leading, int32}, whole{a.shape, dtype};
    switch (kind_) {
      case Factors::kLu: {
        const auto made = lapack(to, "getrf", in, {2}, {whole, {e.vector(e.few), int32}, info}, "");
        return {made[0], made[1] - 1};
      }
      case Factors::kQr: {
        const auto made = lapack(to, "geqrf", in, {2}, {whole, {e.vector(n), dtype}}, "");
        const Term q = lapack(to, "orgqr", made, {2, 1}, {whole}, "")[0];
        std::vector<int64_t> starts(a.shape.size(), 0), stops = e.matrix(n, n), ones(a.shape.size(), 1);
        const Term square = to.slice(made[0], starts, stops, ones);
        const auto rank = static_cast<int64_t>(stops.size());
        const Term below = to.compare(to.iota(stops, int32, rank - 2), to.iota(stops, int32, rank - 1), "GT");
        return {q, to.select(below, to.constant(0, dtype, stops), square)};
      }
      case Factors::kSymmetric:
      case Factors::kSymmetricValues: {
        const bool vectors = kind_ == Factors::kSymmetric;
        const auto made = lapack(to, "syevd", in, {2}, {whole, {e.vector(n), dtype}, info},
                                 vectors ? "mode = 86 : ui8, uplo = 76 : ui8" : "mode = 78 : ui8, uplo = 76 : ui8");
        const Term values = where_found(to, made[2], made[1]);
        return vectors ? std::vector<Term>{values, where_found(to, made[2], made[0])} : std::vector<Term>{values};
      }
      case Factors::kSingular:
      case Factors::kSingularValues: {
        const bool vectors = kind_ == Factors::kSingular;
        const auto made = lapack(to, "gesdd", in, {2},
                                 {whole,
                                  {e.vector(e.few), dtype},
                                  {e.matrix(m, vectors ? m : e.few), dtype},
                                  {e.matrix(vectors ? n : e.few, n), dtype},
                                  info},
                                 vectors ? "mode = 65 : ui8" : "mode = 78 : ui8");
        const auto found = [&](size_t r) { return where_found(to, made[4], made[r]); };
        return vectors ? std::vector<Term>{found(2), found(1), found(3)} : std::vector<Term>{found(1)};
      }
      case Factors::kGeneral:
      case Factors::kGeneralValues: break;
    }
    const bool vectors = kind_ == Factors::kGeneral, is_complex = dtype.val == Dtype::Val::complex64;
    const Spec values{e.vector(n), dtype}, both{a.shape, complex64};
    const auto made = lapack(
        to, "geev", in, {2},
        is_complex ? std::vector<Spec>{values, both, both, info} : std::vector<Spec>{values, values, both, both, info},
        vectors ? "compute_left = 78 : ui8, compute_right = 86 : ui8"
                : "compute_left = 78 : ui8, compute_right = 78 : ui8");
    const Term eigenvalues = is_complex ? made[0] : to.add("complex", {made[0], made[1]}, {}, out[0].shape, complex64);
    const Term found = where_found(to, made.back(), eigenvalues);
    return vectors ? std::vector<Term>{found, where_found(to, made.back(), made[made.size() - 2])}
                   : std::vector<Term>{found};
  }

  Gradients vjp(const Backward& b) const override {
    const array &a = b.inputs[0], &first = b.outputs[0], &c = b.cotangents[0];
    const Extents e = extents_of(a.shape());
    switch (kind_) {
      case Factors::kLu: {
        if (e.rows != e.columns)
          fault("lu", "found a derivative at matrices of {} x {}, expected square ones", e.rows, e.columns);
        const array on = eye(static_cast<int>(e.rows), a.dtype()), l = tril(first, -1) + on, u = triu(first);
        const array inner = tril(matmul(turned(l), tril(c, -1)), -1) + triu(matmul(triu(c), turned(u)));
        const array left = triangular_solve(l, inner, {.left = true, .lower = true, .unit = true, .transposed = true});
        const array both =
            triangular_solve(u, left, {.left = false, .lower = false, .unit = false, .transposed = true});
        const array back = argsort(permutation_of(b.outputs[1], e.rows), -1);
        return {take_along_axis(both, broadcast_to(column(back), both.shape()), -2)};
      }
      case Factors::kQr: {
        const array &r = b.outputs[1], &of_r = b.cotangents[1];
        const array mixed = matmul(r, turned(of_r)) - matmul(turned(c), first);
        const array copied = tril(mixed) + turned(tril(mixed, -1));
        return {triangular_solve(r, c + matmul(first, copied),
                                 {.left = false, .lower = false, .unit = false, .transposed = true})};
      }
      case Factors::kSymmetric: {
        const array& v = b.outputs[1];
        array inner = diagonal_of(c);
        if (b.reached[1]) inner = inner + inverse_distances(first) * matmul(turned(v), b.cotangents[1]);
        return {symmetric(matmul(matmul(v, inner), turned(v)))};
      }
      case Factors::kSymmetricValues: {
        const array v = factors_of(a, Factors::kSymmetric)[1];
        return {matmul(v * row(c), turned(v))};
      }
      case Factors::kSingular: return {of_singular(b, e)};
      case Factors::kSingularValues: {
        const std::vector<array> all = factors_of(a, Factors::kSingular);
        return {matmul(first_columns(all[0], e.few) * row(c), turned(first_columns(turned(all[2]), e.few)))};
      }
      case Factors::kGeneral:
        if (b.reached[1])
          fault("eig", "found a derivative of eigenvectors, of which any multiple is one; eigenvalues have one");
        return {of_values(b.outputs[1], c)};
      case Factors::kGeneralValues: return {of_values(factors_of(a, Factors::kGeneral)[1], c)};
    }
    return {std::nullopt};
  }

  std::vector<array> vmap(const Batch& batch) const override { return factors_of(batch.inputs[0], kind_); }
  void describe(Key&) const override {}

 private:
  /// Columns of U and V beyond the number of singular values only complete the basis, and are treated as constant.
  static array of_singular(const Backward& b, const Extents& e) {
    const array u = first_columns(b.outputs[0], e.few), v = first_columns(turned(b.outputs[2]), e.few);
    const array of_u = first_columns(b.cotangents[0], e.few), of_v = first_columns(turned(b.cotangents[2]), e.few);
    const array& s = b.outputs[1];
    array inner = diagonal_of(b.cotangents[1]);
    if (!b.reached[0] && !b.reached[2]) return matmul(matmul(u, inner), turned(v));
    const array f = inverse_distances(s * s);
    const auto apart = [&](const array& x, const array& of_x) {
      const array product = matmul(turned(x), of_x);
      return f * (product - turned(product));
    };
    const auto outside = [&](const array& x, const array& of_x) {
      const array scaled = of_x / row(s);
      return scaled - matmul(x, matmul(turned(x), scaled));
    };
    inner = inner + apart(u, of_u) * row(s) + column(s) * apart(v, of_v);
    array made = matmul(matmul(u, inner), turned(v));
    if (e.rows > e.few) made = made + matmul(outside(u, of_u), turned(v));
    if (e.columns > e.few) made = made + matmul(u, turned(outside(v, of_v)));
    return made;
  }

  static array of_values(const array& vectors, const array& c) {
    return linalg::solve(turned(vectors), column(c) * turned(vectors));
  }

  Factors kind_;
};

}  // namespace

array cholesky_factor(const array& a, StreamOrDevice s) {
  return apply(std::make_shared<Cholesky>(), {a}, a.shape(), a.dtype(), s);
}

array triangular_solve(const array& a, const array& b, const TriangleDims& dims, StreamOrDevice s) {
  return apply(std::make_shared<TriangularSolve>(dims), {a, b}, b.shape(), b.dtype(), s);
}

std::vector<array> factors_of(const array& a, Factors kind, StreamOrDevice s) {
  const Extents e = extents_of(a.shape());
  const Dtype dtype = a.dtype();
  const int64_t m = e.rows, n = e.columns;
  std::vector<Spec> specs;
  switch (kind) {
    case Factors::kLu: specs = {{a.shape(), dtype}, {e.vector(e.few), int32}}; break;
    case Factors::kQr: specs = {{a.shape(), dtype}, {e.matrix(n, n), dtype}}; break;
    case Factors::kSymmetric: specs = {{e.vector(n), dtype}, {a.shape(), dtype}}; break;
    case Factors::kSymmetricValues: specs = {{e.vector(n), dtype}}; break;
    case Factors::kSingular:
      specs = {{e.matrix(m, m), dtype}, {e.vector(e.few), dtype}, {e.matrix(n, n), dtype}};
      break;
    case Factors::kSingularValues: specs = {{e.vector(e.few), dtype}}; break;
    case Factors::kGeneral: specs = {{e.vector(n), complex64}, {a.shape(), complex64}}; break;
    case Factors::kGeneralValues: specs = {{e.vector(n), complex64}}; break;
  }
  return apply_all(std::make_shared<FactorsOf>(kind), {a}, std::move(specs), s);
}

array permutation_of(const array& pivots, int64_t rows, StreamOrDevice s) {
  Shape shape = pivots.shape();
  const int64_t exchanges = shape.back();
  shape.back() = rows;
  const array place = counter(shape, int32, static_cast<int64_t>(shape.size()) - 1, s);
  const array zero = constant(0, int32, {}, s);
  const auto exchange = [&](const std::vector<array>& now, const std::vector<array>& x) {
    const array here = equal(place, x[0], s), there = equal(place, column(x[1]), s);
    const auto value = [&](const array& at) { return sum(where(at, now[0], zero, s), -1, true, s); };
    return std::pair(std::vector<array>{where(here, value(there), where(there, value(here), now[0], s), s)},
                     std::vector<array>{});
  };
  return scan(exchange, {place}, {counter({exchanges}, int32, 0, s), moveaxis(pivots, -1, 0, s)}).first[0];
}

}  // namespace lowtide::lazy
