// Every operation that the headers declare: its derivatives beside differences of values, its batches beside loops,
// with each input batched along each of its axes. An operation that stands in a header and not here fails the first
// test.
#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include "support.h"

namespace lowtide {
namespace {

using In = std::vector<array>;
struct Input {
  Shape shape = {3, 4};
  double low = -0.9, high = 0.9;
  Dtype dtype = float64;
};
/// What is looked at beside batches.
enum class Slopes : uint8_t {
  kAll,    ///< first and second derivatives, where results are floats; flat ones are 0
  kFirst,  ///< a second one isn't smooth, or refused
  kRough,  ///< in float32, by a wide step
  kNone
};
struct Row {
  std::string names;  ///< operations that it stands for, and a word on the case behind a colon
  ManyToOne f;
  std::vector<Input> inputs = {{}};
  Slopes slopes = Slopes::kAll;
};

const Input kAny{}, kAbove{{3, 4}, 0.2, 2}, kBits{{3, 4}, 1, 30, int32}, kRow{{4}}, kPlaces{{2}, 0, 3, int32};
const Input kSquare{{3, 3}}, kSingle{{3, 4}, -0.9, 0.9, float32};
array number(double value) { return array(value, float64); }
array whole(const array& a) { return matmul(a, swapaxes(a, -1, -2)) + eye(3, float64); }
array both(const std::pair<array, array>& parts) { return concatenate({flatten(parts.first), flatten(parts.second)}); }
array all_of(const std::vector<array>& parts) {
  std::vector<array> lines;
  for (const array& part : parts) lines.push_back(flatten(astype(part, parts.back().dtype())));
  return concatenate(lines);
}

#define LT_UNARY(name, ...)                                    \
  Row {                                                        \
    #name, [](const In& x) { return name(x[0]); }, __VA_ARGS__ \
  }
#define LT_BINARY(name, ...)                                         \
  Row {                                                              \
    #name, [](const In& x) { return name(x[0], x[1]); }, __VA_ARGS__ \
  }

const std::vector<Row>& elementwise_rows() {
  static const std::vector<Input> kOne = {kAny}, kPositive = {kAbove}, kTwo = {kAny, kAny}, kTwoAbove = {kAny, kAbove};
  static const std::vector<Input> kInts = {kBits, {{3, 4}, 1, 5, int32}}, kFlags = {{{3, 4}, 0, 2, bool_}};
  static const std::vector<Row> kRows = {
      LT_UNARY(abs, {{{3, 4}, 0.1, 1}}),
      LT_UNARY(negative, kOne),
      LT_UNARY(sign, kOne),
      LT_UNARY(ceil, kOne),
      LT_UNARY(floor, kOne),
      LT_UNARY(trunc, {{{3, 4}, 0.1, 0.9}}),
      LT_UNARY(square, kOne),
      LT_UNARY(sqrt, kPositive),
      LT_UNARY(rsqrt, kPositive),
      LT_UNARY(reciprocal, kPositive),
      LT_UNARY(exp, kOne),
      LT_UNARY(expm1, kOne),
      LT_UNARY(log, kPositive),
      LT_UNARY(log2, kPositive),
      LT_UNARY(log10, kPositive),
      LT_UNARY(log1p, kOne),
      LT_UNARY(sin, kOne),
      LT_UNARY(cos, kOne),
      LT_UNARY(tan, kOne),
      LT_UNARY(arcsin, kOne),
      LT_UNARY(arccos, kOne),
      LT_UNARY(arctan, kOne),
      LT_UNARY(sinh, kOne),
      LT_UNARY(cosh, kOne),
      LT_UNARY(tanh, kOne),
      LT_UNARY(arcsinh, kOne),
      LT_UNARY(arccosh, {{{3, 4}, 1.2, 2}}),
      LT_UNARY(arctanh, kOne),
      LT_UNARY(sigmoid, kOne),
      LT_UNARY(erf, kOne),
      LT_UNARY(erfinv, {{{3, 4}, -0.6, 0.6, float32}}, Slopes::kRough),
      LT_UNARY(degrees, kOne),
      LT_UNARY(radians, kOne),
      LT_UNARY(logical_not, kFlags),
      LT_UNARY(bitwise_invert, kInts),
      LT_UNARY(isnan, kOne),
      LT_UNARY(isinf, kOne),
      LT_UNARY(isfinite, kOne),
      LT_UNARY(isposinf, kOne),
      LT_UNARY(isneginf, kOne),
      LT_UNARY(real, kOne),
      LT_UNARY(imag, {{{3, 4}, -1, 1, complex64}}, Slopes::kRough),
      LT_UNARY(conjugate, {{{3, 4}, -1, 1, complex64}}, Slopes::kRough),
      {"round", [](const In& x) { return round(x[0] * number(0.4)); }},
      {"nan_to_num", [](const In& x) { return nan_to_num(x[0] * x[0]); }},
      {"clip", [](const In& x) { return clip(x[0] * x[0], number(0.05), x[1]); }, {kAny, kAbove}},
      LT_UNARY(stop_gradient, kOne, Slopes::kNone),
      LT_UNARY(copy, kOne),
      LT_UNARY(contiguous, kOne),
      {"astype", [](const In& x) { return astype(astype(x[0] * x[0], float32), float64); }, kOne, Slopes::kNone},
      {"view", [](const In& x) { return view(x[0], int64); }, kOne, Slopes::kNone},
      LT_BINARY(add, {kAny, kRow}),
      LT_BINARY(subtract, {kRow, kAny}),
      LT_BINARY(multiply, {kAny, kRow}),
      LT_BINARY(divide, kTwoAbove),
      LT_BINARY(floor_divide, kTwoAbove),
      LT_BINARY(remainder, {{{3, 4}, -3, 3}, {{3, 4}, 0.7, 0.9}}),
      {"divmod", [](const In& x) { return all_of(divmod(x[0], x[1])); }, {{{3, 4}, 2.1, 2.6}, {{3, 4}, 0.7, 0.75}}},
      LT_BINARY(power, {kAbove, kAny}),
      LT_BINARY(maximum, kTwo),
      LT_BINARY(minimum, kTwo),
      LT_BINARY(logaddexp, kTwo),
      LT_BINARY(arctan2, kTwoAbove),
      LT_BINARY(equal, kInts),
      LT_BINARY(not_equal, kInts),
      LT_BINARY(less, kTwo),
      LT_BINARY(less_equal, kInts),
      LT_BINARY(greater, kTwo),
      LT_BINARY(greater_equal, kInts),
      LT_BINARY(logical_and, kInts),
      LT_BINARY(logical_or, kInts),
      LT_BINARY(bitwise_and, kInts),
      LT_BINARY(bitwise_or, kInts),
      LT_BINARY(bitwise_xor, kInts),
      LT_BINARY(left_shift, kInts),
      LT_BINARY(right_shift, kInts),
      LT_BINARY(isclose, kTwo),
      LT_BINARY(allclose, kTwo),
      LT_BINARY(array_equal, kTwo),
      {"where", [](const In& x) { return where(greater(x[0], number(0.1)), x[1] * x[1], sin(x[0])); }, kTwo},
  };
  return kRows;
}

const std::vector<Row>& shape_rows() {
  static const std::vector<Row> kRows = {
      {"arange linspace ones zeros eye identity tri full fftfreq rfftfreq bartlett blackman hamming hanning",
       [](const In& x) {
         using namespace fft;
         return x[0] + arange(4.0) + linspace(0, 1, 4) + ones({4}) + zeros({4}) + sum(eye(4), 0) + sum(identity(4), 0) +
                sum(tri(4, 4, 0, float32), 0) + full({4}, 2.0F) + fftfreq(4) + rfftfreq(6) + bartlett(4) + blackman(4) +
                hamming(4) + hanning(4);
       }},
      {"full full_like ones_like zeros_like",
       [](const In& x) {
         return full({2, 3, 4}, x[0] * x[0]) + full_like(x[0], sum(x[0])) + ones_like(x[0]) + zeros_like(x[0]);
       }},
      {"tril", [](const In& x) { return tril(x[0] * x[0], 1); }},
      {"triu", [](const In& x) { return triu(x[0] * x[0], -1); }},
      {"meshgrid",
       [](const In& x) { return meshgrid({x[0], x[1]})[0] * meshgrid({x[0], x[1]}, true, "ij")[0]; },
       {{{3}}, {{3}}}},
      {"reshape", [](const In& x) { return reshape(x[0] * x[0], {2, -1}); }},
      {"unflatten", [](const In& x) { return unflatten(x[0] * x[0], 1, {2, 2}); }},
      {"flatten", [](const In& x) { return flatten(x[0] * x[0], 0, 1); }},
      {"squeeze expand_dims", [](const In& x) { return squeeze(expand_dims(x[0] * x[0], {0, 2}), 0); }},
      {"atleast_1d atleast_2d atleast_3d",
       [](const In& x) { return atleast_3d(atleast_2d(atleast_1d(sum(x[0] * x[0])))) * x[0]; }},
      {"broadcast_to",
       [](const In& x) { return broadcast_to(x[0] * x[0], {2, 3, 4}) * x[1]; },
       {{{3, 1}}, {{2, 1, 4}}}},
      {"broadcast_arrays", [](const In& x) { return broadcast_arrays({x[0] * x[0], x[1]})[0] * x[1]; }, {kAny, kRow}},
      {"transpose", [](const In& x) { return transpose(x[0] * x[0]); }},
      {"transpose: of three", [](const In& x) { return transpose(x[0] * x[0], {2, 0, 1}); }, {{{2, 3, 2}}}},
      {"matrix_transpose", [](const In& x) { return matrix_transpose(x[0] * x[0]); }},
      {"swapaxes moveaxis", [](const In& x) { return moveaxis(swapaxes(x[0] * x[0], 0, 2), -1, 1); }, {{{2, 3, 2}}}},
      {"flip", [](const In& x) { return flip(x[0] * x[0], 1); }},
      {"concatenate", [](const In& x) { return concatenate({x[0] * x[1], x[1]}, 1); }, {kAny, kAny}},
      {"stack", [](const In& x) { return stack({x[0] * x[1], x[1]}, 1); }, {kAny, kAny}},
      {"split unstack", [](const In& x) { return split(x[0] * x[0], 2, 1)[1] + expand_dims(unstack(x[0], 1)[0], 1); }},
      {"repeat tile", [](const In& x) { return tile(x[0], {2, 2}) * repeat(repeat(x[0], 2, 0), 2, 1); }},
      {"pad", [](const In& x) { return pad(x[0] * x[0], {{1, 0}, {2, 1}}, x[1]); }, {kAny, {{}}}},
      {"pad: of edges", [](const In& x) { return pad(x[0] * x[0], {{1, 2}, {0, 1}}, array(0), "edge"); }},
      {"roll", [](const In& x) { return roll(x[0] * x[0], {1, -2}, {0, 1}); }},
      {"fftshift ifftshift", [](const In& x) { return fft::fftshift(x[0] * x[0]) * fft::ifftshift(x[0], {1}); }},
      {"as_strided", [](const In& x) { return as_strided(x[0] * x[0], {4, 2}, {1, 3}, 2); }},
      {"number_of_elements", [](const In& x) { return number_of_elements(x[0], {0, 1}, false); }},
      {"slice", [](const In& x) { return slice(x[0] * x[0], {2, 3}, {-4, 0}, {-1, -2}); }},
      {"slice: at a place",
       [](const In& x) { return slice(x[0] * x[0], x[1], {1}, {3, 2}); },
       {kAny, {{1}, 0, 3, int32}}},
      {"slice_update",
       [](const In& x) { return slice_update(x[0] * x[0], sin(x[1]), {1, 1}, {3, 3}); },
       {kAny, {{2, 2}}}},
      {"slice_update: at a place",
       [](const In& x) { return slice_update(x[0] * x[0], x[1] * x[1], x[2], std::vector<int>{1}); },
       {kAny, {{3, 2}}, {{1}, 0, 3, int32}}},
      {"slice_update_add",
       [](const In& x) { return slice_update_add(x[0] * x[0], x[1], {0, 0}, {3, 4}, {2, 1}); },
       {kAny, {{2, 4}}}},
      {"slice_update_prod",
       [](const In& x) { return slice_update_prod(x[0], x[1], {0, 0}, {3, 4}, {2, 1}); },
       {kAny, {{2, 4}}}},
      {"slice_update_max",
       [](const In& x) { return slice_update_max(x[0], x[1], {0, 0}, {3, 4}, {2, 1}); },
       {kAny, {{2, 4}}}},
      {"slice_update_min",
       [](const In& x) { return slice_update_min(x[0], x[1], {0, 0}, {3, 4}, {2, 1}); },
       {kAny, {{2, 4}}}},
      {"gather",
       [](const In& x) { return gather(x[0] * x[0], {x[1], array({1, 1})}, {0, 1}, {1, 2}); },
       {kAny, kPlaces}},
      {"take", [](const In& x) { return take(x[0] * x[0], x[1], 0); }, {kAny, kPlaces}},
      {"take: of all", [](const In& x) { return take(x[0] * x[0], x[1]); }, {kAny, {{2, 2}, -5, 5, int32}}},
      {"take_along_axis",
       [](const In& x) { return take_along_axis(x[0] * x[0], x[1], 1); },
       {kAny, {{3, 2}, 0, 4, int32}}},
      {"put_along_axis",
       [](const In& x) { return put_along_axis(x[0] * x[0], x[1], x[2], 1); },
       {kAny, {{3, 1}, 0, 4, int32}, {{3, 1}}}},
      {"scatter_add_axis",
       [](const In& x) { return scatter_add_axis(x[0] * x[0], x[1], x[2], 1); },
       {kAny, {{3, 2}, 0, 4, int32}, {{3, 2}}}},
      {"scatter",
       [](const In& x) { return scatter(x[0] * x[0], x[1], x[2], 0); },
       {kAny, {{1}, 0, 3, int32}, {{1, 1, 4}}}},
      {"scatter_add",
       [](const In& x) { return scatter_add(x[0] * x[0], x[1], x[2], 0); },
       {kAny, kPlaces, {{2, 1, 4}}}},
      {"scatter_prod",
       [](const In& x) { return scatter_prod(x[0], x[1], x[2], 0); },
       {kAny, {{1}, 0, 3, int32}, {{1, 1, 4}}}},
      {"scatter_max",
       [](const In& x) { return scatter_max(x[0], x[1], x[2], 0); },
       {kAny, {{1}, 0, 3, int32}, {{1, 1, 4}}}},
      {"scatter_min",
       [](const In& x) { return scatter_min(x[0], x[1], x[2], 0); },
       {kAny, {{1}, 0, 3, int32}, {{1, 1, 4}}}},
      {"diagonal", [](const In& x) { return diagonal(x[0] * x[0], 1); }},
      {"diag", [](const In& x) { return diag(diag(x[0] * x[0]), 1); }},
      {"trace", [](const In& x) { return trace(x[0] * x[0], 1, 0, 1); }},
  };
  return kRows;
}

const std::vector<Row>& folding_rows() {
  static const std::vector<Row> kRows = {
      {"sum", [](const In& x) { return sum(x[0] * x[0], 1); }},
      {"prod", [](const In& x) { return prod(x[0], 1); }},
      {"prod: of all", [](const In& x) { return prod(x[0] + number(1)); }},
      {"max", [](const In& x) { return max(x[0], 1); }},
      {"min", [](const In& x) { return min(x[0], 0, true); }},
      {"all any",
       [](const In& x) { return logical_or(all(greater(x[0], number(0)), 1), any(less(x[0], number(0)), 1)); }},
      {"mean", [](const In& x) { return mean(x[0] * x[0], {0, 1}, true); }},
      {"var", [](const In& x) { return var(x[0], 1, false, 1); }},
      {"std", [](const In& x) { return lowtide::std(x[0], 1); }},
      {"logsumexp", [](const In& x) { return logsumexp(x[0], 1); }},
      {"median", [](const In& x) { return median(x[0], 1); }},
      {"count_nonzero", [](const In& x) { return count_nonzero(x[0], 1); }, {{{3, 4}, 0, 2, int32}}},
      {"argmax argmin", [](const In& x) { return argmax(x[0], 1) + argmin(x[0], 1); }},
      {"softmax", [](const In& x) { return softmax(x[0], 1); }},
      {"cumsum", [](const In& x) { return cumsum(x[0] * x[0], 0, true, false); }},
      {"cumprod", [](const In& x) { return cumprod(x[0], 1); }, {kAbove}},
      {"cummax", [](const In& x) { return cummax(x[0], 1); }},
      {"cummin", [](const In& x) { return cummin(x[0], 1, true); }},
      {"logcumsumexp", [](const In& x) { return logcumsumexp(x[0], 1); }},
      {"diff", [](const In& x) { return diff(x[0] * x[0], 2, 1); }},
      {"sort", [](const In& x) { return sort(x[0], 1) * sort(x[0], 0); }},
      {"argsort", [](const In& x) { return argsort(x[0], 1); }},
      {"partition", [](const In& x) { return partition(x[0], 2, 1); }},
      {"argpartition", [](const In& x) { return argpartition(x[0], 2, 1); }},
      {"topk", [](const In& x) { return topk(x[0], 2, 1); }},
      {"searchsorted", [](const In& x) { return searchsorted(sort(x[0]), x[1]); }, {kRow, {{2, 2}}}},
      {"matmul", [](const In& x) { return matmul(x[0], x[1]); }, {kAny, {{2, 4, 2}}}},
      {"matmul: of vectors", [](const In& x) { return matmul(x[0], x[1]) * x[0]; }, {kRow, kRow}},
      {"addmm", [](const In& x) { return addmm(x[0], x[1], x[2], 2.0F, 0.5F); }, {{{3, 2}}, kAny, {{4, 2}}}},
      {"tensordot", [](const In& x) { return tensordot(x[0], x[1], {1, 0}, {0, 1}); }, {kAny, {{4, 3, 2}}}},
      {"outer", [](const In& x) { return outer(x[0], x[1]); }, {kRow, {{3}}}},
      {"inner", [](const In& x) { return inner(x[0], x[1]); }, {kAny, {{2, 4}}}},
      {"vecdot", [](const In& x) { return vecdot(x[0], x[1]); }, {kAny, kRow}},
      {"kron", [](const In& x) { return kron(x[0], x[1]); }, {{{2, 3}}, {{2}}}},
      {"einsum", [](const In& x) { return einsum("ij,jk,ik->k", {x[0], x[1], matmul(x[0], x[1])}); }, {kAny, {{4, 2}}}},
      {"conv1d", [](const In& x) { return conv1d(x[0], x[1], 2, 1); }, {{{2, 5, 3}}, {{2, 3, 3}}}},
      {"conv2d", [](const In& x) { return conv2d(x[0], x[1], {2, 1}, {1, 0}); }, {{{1, 4, 4, 2}}, {{2, 3, 2, 2}}}},
      {"conv_general",
       [](const In& x) { return conv_general(x[0], x[1], {2}, {1}, {2}, {2}, {1}, 2, true); },
       {{{2, 6, 4}}, {{6, 2, 2}}}},
      {"rms_norm", [](const In& x) { return fast::rms_norm(x[0], x[1], 1e-3F); }, {kAny, kRow}},
      {"layer_norm", [](const In& x) { return fast::layer_norm(x[0], x[1], x[2], 1e-3F); }, {kAny, kRow, kRow}},
      {"rope", [](const In& x) { return fast::rope(x[0], 4, false, 10.0F, 1, 1); }, {kSingle}, Slopes::kRough},
      {"scaled_dot_product_attention",
       [](const In& x) { return fast::scaled_dot_product_attention(x[0], x[1], x[2], 0.5F, "causal"); },
       {{{1, 2, 3, 4}, -1, 1, float32}, {{1, 1, 3, 4}, -1, 1, float32}, {{1, 1, 3, 4}, -1, 1, float32}},
       Slopes::kRough},
  };
  return kRows;
}

const std::vector<Row>& matrix_rows() {
  static const Input kThree{{3, 3}, -1, 1}, kWave{{3, 4}, -1, 1, complex64};
  static const array kFar = astype(diag(array({3.0F, -5.0F, 8.0F})), float64);  // apart from what is singular
  static const std::vector<Row> kRows = {
      {"norm", [](const In& x) { return linalg::norm(x[0], 1) * linalg::norm(x[0], "fro"); }},
      {"norm: of spectra", [](const In& x) { return linalg::norm(x[0], "nuc") * linalg::norm(x[0], 2.0); }},
      {"norm: of sums", [](const In& x) { return linalg::norm(x[0], 1.0) * linalg::norm(x[0], 3.0, 1); }, {kAbove}},
      {"qr", [](const In& x) { return both(linalg::qr(x[0])); }},
      {"qr: tall", [](const In& x) { return both(linalg::qr(x[0])); }, {{{4, 3}}}},
      {"svd", [](const In& x) { return all_of(linalg::svd(x[0] + kFar)); }, {kThree}},
      {"svd: of few",
       [](const In& x) {
         const auto made = linalg::svd(x[0]);
         return both({slice(made[0], {0, 0}, {4, 2}), slice(made[2], {0, 0}, {2, 2})});
       },
       {{{4, 2}}}},
      {"inv", [](const In& x) { return linalg::inv(x[0] + kFar); }, {kThree}},
      {"tri_inv", [](const In& x) { return linalg::tri_inv(x[0] + kFar, true); }, {kThree}},
      {"cholesky", [](const In& x) { return linalg::cholesky(whole(x[0])); }, {kThree}},
      {"cholesky: upper", [](const In& x) { return linalg::cholesky(whole(x[0]), true); }, {kThree}},
      {"cholesky_inv", [](const In& x) { return linalg::cholesky_inv(x[0] + kFar); }, {kThree}},
      {"pinv", [](const In& x) { return linalg::pinv(x[0]); }},
      {"lu", [](const In& x) { return all_of(linalg::lu(x[0] + kFar)); }, {kThree}},
      {"lu_factor", [](const In& x) { return linalg::lu_factor(x[0]).first; }, {kThree}},
      {"solve", [](const In& x) { return linalg::solve(x[0] + kFar, x[1]); }, {kThree, {{3, 2}}}},
      {"solve_triangular", [](const In& x) { return linalg::solve_triangular(x[0] + kFar, x[1]); }, {kThree, {{3}}}},
      {"cross", [](const In& x) { return linalg::cross(x[0], x[1], 0); }, {kAny, kAny}},
      {"eigh", [](const In& x) { return both(linalg::eigh(x[0] + swapaxes(x[0], 0, 1) + kFar)); }, {kThree}},
      {"eigvalsh", [](const In& x) { return linalg::eigvalsh(x[0] + swapaxes(x[0], 0, 1), "U"); }, {kThree}},
      {"eig eigvals",
       [](const In& x) {
         const array a = x[0] + astype(kFar, float32);
         return real(linalg::eig(a).first * linalg::eigvals(a));
       },
       {{{3, 3}, -0.3, 0.3, float32}},
       Slopes::kRough},
      {"det", [](const In& x) { return linalg::det(x[0] + kFar); }, {kThree}},
      {"slogdet", [](const In& x) { return both(linalg::slogdet(x[0] + kFar)); }, {kThree}},
      {"fft", [](const In& x) { return fft::fft(x[0], 6, 1); }, {kWave}, Slopes::kRough},
      {"ifft", [](const In& x) { return fft::ifft(x[0], 0, fft::FFTNorm::Ortho); }, {kWave}, Slopes::kRough},
      {"rfft", [](const In& x) { return fft::rfft(x[0]); }, {kSingle}, Slopes::kRough},
      {"rfft: odd", [](const In& x) { return fft::rfft(x[0], 0); }, {kSingle}, Slopes::kRough},
      {"irfft", [](const In& x) { return fft::irfft(x[0]); }, {kWave}, Slopes::kRough},
      {"irfft: odd", [](const In& x) { return fft::irfft(x[0], 5, 1); }, {kWave}, Slopes::kRough},
      {"fft2", [](const In& x) { return fft::fft2(x[0]); }, {kWave}, Slopes::kRough},
      {"ifft2", [](const In& x) { return fft::ifft2(x[0]); }, {kWave}, Slopes::kRough},
      {"rfft2", [](const In& x) { return fft::rfft2(x[0]); }, {kSingle}, Slopes::kRough},
      {"irfft2", [](const In& x) { return fft::irfft2(x[0]); }, {kWave}, Slopes::kRough},
      {"fftn", [](const In& x) { return fft::fftn(x[0]); }, {{{2, 3, 2, 2}, -1, 1, complex64}}, Slopes::kRough},
      {"ifftn", [](const In& x) { return fft::ifftn(x[0], {1, 0}); }, {kWave}, Slopes::kRough},
      {"rfftn", [](const In& x) { return fft::rfftn(x[0], {1, 0}); }, {kSingle}, Slopes::kRough},
      {"irfftn", [](const In& x) { return fft::irfftn(x[0]); }, {kWave}, Slopes::kRough},
  };
  return kRows;
}

const std::vector<Row>& random_rows() {
  static const Input kKey{{2}, 0, 1 << 30, uint32}, kMean{{3}, -1, 1, float32}, kWidth{{3}, 1, 2, float32};
  static const std::vector<Row> kRows = {
      {"bits", [](const In& x) { return random::bits({5}, 4, x[0]); }, {kKey}},
      {"bits: of two", [](const In& x) { return random::bits({3, 3}, 2, x[0]); }, {kKey}},
      {"bits: of one", [](const In& x) { return random::bits({7}, 1, x[0]); }, {kKey}},
      {"split key", [](const In& x) { return random::split(x[0], 3) + random::key(7); }, {kKey}},
      {"uniform",
       [](const In& x) { return random::uniform(x[1], x[2], {3}, float32, x[0]); },
       {kKey, kMean, kWidth},
       Slopes::kRough},
      {"normal",
       [](const In& x) { return random::normal({3}, float32, x[1], x[2], x[0]); },
       {kKey, kMean, kWidth},
       Slopes::kRough},
      {"multivariate_normal",
       [](const In& x) {
         return random::multivariate_normal(x[1], matmul(x[2], transpose(x[2])) + eye(3), {2}, float32, x[0]);
       },
       {kKey, kMean, {{3, 3}, -1, 1, float32}},
       Slopes::kNone},
      {"truncated_normal",
       [](const In& x) { return random::truncated_normal(x[1], x[1] + x[2], float32, x[0]); },
       {kKey, kMean, kWidth},
       Slopes::kNone},
      {"gumbel laplace",
       [](const In& x) { return random::gumbel({3}, float32, x[0]) + random::laplace({3}, x[0]); },
       {kKey}},
      {"randint",
       [](const In& x) { return random::randint(x[1], array(50), {3}, int32, x[0]); },
       {kKey, {{3}, -9, 9, int32}}},
      {"integers",
       [](const In& x) { return random::integers(x[1], array(50), {3}, int32, x[0]); },
       {kKey, {{3}, -9, 9, int32}}},
      {"half_open",
       [](const In& x) { return random::half_open(x[1], x[2], {3}, float32, x[0]); },
       {kKey, kMean, kWidth},
       Slopes::kRough},
      {"bernoulli", [](const In& x) { return random::bernoulli(x[1], x[0]); }, {kKey, {{9}, 0, 1, float32}}},
      {"categorical", [](const In& x) { return random::categorical(x[1], 0, x[0]); }, {kKey, {{3, 4}, -1, 1, float32}}},
      {"permutation", [](const In& x) { return random::permutation(x[1], 1, x[0]); }, {kKey, kSingle}, Slopes::kRough},
  };
  return kRows;
}

std::vector<const Row*> every_row() {
  std::vector<const Row*> rows;
  for (const auto* list : {&elementwise_rows(), &shape_rows(), &folding_rows(), &matrix_rows(), &random_rows()}) {
    for (const Row& row : *list) rows.push_back(&row);
  }
  return rows;
}

/// Names that headers declare as functions whose result is an array, or several.
std::set<std::string> declared(const std::string& text) {
  static const std::regex kDeclaration(R"(\b(?:array|std::vector<array>|std::pair<array, array>)\s+([a-z_0-9]+)\()");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), kDeclaration), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

std::set<std::string> without_row(const std::set<std::string>& names) {
  std::set<std::string> left = names;
  for (const Row* row : every_row()) {
    std::istringstream words(row->names.substr(0, row->names.find(':')));
    for (std::string word; words >> word;) left.erase(word);
  }
  return left;
}

TEST(ArraysEveryOp, HasARow) {
  std::set<std::string> names;
  for (const char* header : {"ops.h", "fft.h", "linalg.h", "fast.h", "random.h"}) {
    std::ifstream file(std::string(LOWTIDE_HEADERS "/") + header);
    ASSERT_TRUE(file.good()) << header;
    std::ostringstream text;
    text << file.rdbuf();
    names.merge(declared(text.str()));
  }
  EXPECT_GT(names.size(), 200U);
  EXPECT_EQ(without_row(names), std::set<std::string>());
  EXPECT_EQ(without_row(declared("LOWTIDE_PUBLIC array\nspin(const array& a);")), std::set<std::string>{"spin"});
}

array value_of(const Input& input, const Shape& shape, uint64_t seed) {
  const array key = random::key(seed);
  const auto low = static_cast<float>(input.low), high = static_cast<float>(input.high);
  if (input.dtype == bool_ || issubdtype(input.dtype, integer))
    return astype(random::randint(static_cast<int>(input.low), static_cast<int>(input.high), shape, int32, key),
                  input.dtype);
  if (input.dtype != complex64) return astype(random::uniform(low, high, shape, float32, key), input.dtype);
  const array parts = random::uniform(low, high, shape, float32, key);
  return parts + array(complex64_t(0, 1)) * flip(parts);
}

In values_of(const Row& row, uint64_t seed, int64_t batch = 0) {
  In values;
  for (const Input& input : row.inputs) {
    Shape shape = input.shape;
    if (batch > 0) shape.insert(shape.begin(), batch);
    values.push_back(value_of(input, shape, seed++));
  }
  return values;
}

array distance(const array& a, const array& b) {
  const auto size = [](const array& x) {
    return x.size() == 0 ? array(0.0F)
                         : astype(max(abs(astype(x, x.dtype() == complex64 ? complex64 : float64))), float32);
  };
  const auto wide = [](const array& x) { return x.dtype() == complex64 ? x : astype(x, float64); };
  return size(wide(a) - wide(b)) / (size(b) + array(1.0F));
}

/// Pairs of numbers that must agree, evaluated together.
class Pairs {
 public:
  void add(const std::string& name, const array& found, const array& expected, double tolerance) {
    pairs_.push_back({name, found, expected, tolerance});
  }
  /// One line for each pair that doesn't.
  std::string wrong() const {
    std::vector<array> numbers;
    for (const Pair& pair : pairs_) numbers.insert(numbers.end(), {pair.found, pair.expected});
    eval(numbers);
    std::ostringstream lines;
    for (const Pair& pair : pairs_) {
      const double want = astype(pair.expected, float64).item<double>();
      const double got = astype(pair.found, float64).item<double>();
      if (!(std::fabs(got - want) <= pair.tolerance * (1 + std::fabs(want))))
        lines << pair.name << ": " << got << " instead of " << want << "\n";
    }
    return lines.str();
  }

 private:
  struct Pair {
    std::string name;
    array found, expected;
    double tolerance;
  };
  std::vector<Pair> pairs_;
};

/// The pairs that `add` makes: what is wrong with them, or with making them.
template <class F>
std::string wrong_of(const Row& row, F&& add) {
  Pairs pairs;
  std::string lines;
  const std::string fault = fault_of([&] {
    add(pairs);
    lines = pairs.wrong();
  });
  return fault.empty() ? lines : row.names + ": " + fault + "\n";
}

/// What f's derivatives and differences of f come to along one direction.
void add_slopes(Pairs& pairs, const Row& row, const ManyToOne& f) {
  const bool rough = row.slopes == Slopes::kRough;
  const In x = values_of(row, 5);
  In moving, v;
  std::vector<size_t> places;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!issubdtype(x[i].dtype(), inexact)) continue;
    places.push_back(i);
    moving.push_back(x[i]);
    v.push_back(value_of({x[i].shape(), -1, 1, x[i].dtype()}, x[i].shape(), 60 + i));
  }
  const ManyToOne of_moving = [&](const In& at) {
    In all = x;
    for (size_t k = 0; k < places.size(); ++k) all[places[k]] = at[k];
    return f(all);
  };
  const array y = of_moving(moving);
  if (moving.empty() || !issubdtype(y.dtype(), inexact)) return;
  const Dtype real_type = rough ? float32 : float64;
  const array w = value_of({y.shape(), -1, 1, real_type}, y.shape(), 7), w2 = w * w;
  const auto scalar = [&](const array& a) {
    return a.dtype() == complex64 ? sum(real(a) * w) + sum(imag(a) * w2) : sum(astype(a, real_type) * w);
  };
  const ManyToMany loss = [&](const In& at) { return In{scalar(of_moving(at))}; };
  const array h = array(rough ? 0.05 : 1e-5, real_type), twice = h + h;
  const auto moved = [&](const array& by) {
    In at;
    for (size_t k = 0; k < moving.size(); ++k) at.push_back(moving[k] + astype(by, moving[k].dtype()) * v[k]);
    return at;
  };
  const auto along = [&](const In& gradients) {
    array total = array(0.0, real_type);
    for (size_t k = 0; k < v.size(); ++k) total = total + sum(real(gradients[k] * v[k]));
    return total;
  };
  const double tolerance = rough ? 3e-3 : 2e-6;
  const array by_values = (loss(moved(h))[0] - loss(moved(negative(h)))[0]) / twice;
  const array one = ones_like(by_values);
  pairs.add(row.names + ", vjp", along(vjp(loss, moving, {one}).second), by_values, tolerance);
  pairs.add(row.names + ", jvp", jvp(loss, moving, v).second[0], by_values, tolerance);
  if (row.slopes != Slopes::kAll) return;
  const ManyToMany slope = [&](const In& at) { return In{along(vjp(loss, at, {one}).second)}; };
  pairs.add(row.names + ", twice", along(vjp(slope, moving, {one}).second),
            (slope(moved(h))[0] - slope(moved(negative(h)))[0]) / twice, 2e-5);
}

TEST(ArraysEveryOp, DerivativesAreWhatDifferencesComeTo) {
  for (const Row* row : every_row()) {
    if (row->slopes == Slopes::kNone) continue;
    EXPECT_EQ(wrong_of(*row, [&](Pairs& pairs) { add_slopes(pairs, *row, row->f); }), "");
  }
}

/// f of batches beside f of each of them: every input along every axis, or none; of three inputs the others first.
void add_batches(Pairs& pairs, const Row& row, const ManyToOne& f, const ManyToOne& alone, bool first_axes = false) {
  constexpr int kBatch = 2;
  const In x = values_of(row, 80, kBatch);
  const ManyToMany fun = [&](const In& in) { return In{f(in)}; };
  const auto add = [&](const std::vector<int>& axes) {  // -1: none
    In given;
    std::vector<array> each;
    for (size_t i = 0; i < x.size(); ++i)
      given.push_back(axes[i] == -1 ? take(x[i], 0, 0) : moveaxis(x[i], 0, axes[i]));
    for (int k = 0; k < kBatch; ++k) {
      In one;
      for (size_t i = 0; i < x.size(); ++i) one.push_back(take(x[i], axes[i] == -1 ? 0 : k, 0));
      each.push_back(alone(one));
    }
    const array batched = vmap(fun, axes, {0})(given)[0], loop = stack(each);
    if (batched.shape() != loop.shape()) throw std::runtime_error("a batch has another shape than a loop");
    std::string name = row.names + ", in_axes";
    for (const int axis : axes) name += " " + std::to_string(axis);
    pairs.add(name, distance(batched, loop), array(0.0F), 1e-5);
  };
  if (first_axes) return add(std::vector<int>(x.size(), 0));
  std::vector<int> axes(x.size(), -1);
  if (x.size() <= 2) {
    while (true) {
      size_t i = 0;
      while (i < x.size() && axes[i] == static_cast<int>(row.inputs[i].shape.size())) axes[i++] = -1;
      if (i == x.size()) break;
      ++axes[i];
      add(axes);
    }
    return;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    for (const int others : {-1, 0}) {
      for (int axis = 0; axis <= static_cast<int>(row.inputs[i].shape.size()); ++axis) {
        std::vector<int> chosen(x.size(), others);
        chosen[i] = axis;
        add(chosen);
      }
    }
  }
}

TEST(ArraysEveryOp, BatchesAreLoops) {
  for (const Row* row : every_row())
    EXPECT_EQ(wrong_of(*row, [&](Pairs& pairs) { add_batches(pairs, *row, row->f, row->f); }), "");
}

TEST(ArraysEveryOp, BatchesOfDerivativesAreLoops) {
  for (const Row* row : every_row()) {
    const In example = values_of(*row, 80);
    std::vector<int> places;
    for (size_t i = 0; i < example.size(); ++i) {
      if (issubdtype(example[i].dtype(), inexact)) places.push_back(static_cast<int>(i));
    }
    if (row->slopes == Slopes::kNone || places.empty() || !issubdtype(row->f(example).dtype(), inexact)) continue;
    const ManyToOne slope = [&](const In& x) {
      const ManyToOne loss = [&](const In& at) {
        const array y = row->f(at);
        return sum(sin(y.dtype() == complex64 ? real(y) + imag(y) : y));
      };
      return all_of(grad(loss, places)(x));
    };
    EXPECT_EQ(wrong_of(*row, [&](Pairs& pairs) { add_batches(pairs, *row, slope, slope, true); }), "");
  }
}

/// The controls: a factor that a derivative doesn't see, and a function that isn't the one of the loop.
TEST(ArraysEveryOp, WhatIsWrongIsSeen) {
  const Row row{"planted", [](const In& x) { return x[0] * stop_gradient(x[0]); }};
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  EXPECT_EQ(lines(wrong_of(row, [&](Pairs& pairs) { add_slopes(pairs, row, row.f); })), 3);
  const ManyToOne other = [](const In& x) { return x[0] * x[0] * x[0]; };
  EXPECT_EQ(lines(wrong_of(row, [&](Pairs& pairs) { add_batches(pairs, row, row.f, other); })), 3);
}

}  // namespace
}  // namespace lowtide
