#pragma once
/// Every operation that the headers declare, as a function of inputs: what every_op_test.cpp looks at.

#include <lowtide/arrays.h>

#include <string>
#include <vector>

namespace lowtide::rows {

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
  std::string names;  ///< operations that it stands for, and a word on the case after a colon
  ManyToOne f;
  std::vector<Input> inputs = {{}};
  Slopes slopes = Slopes::kAll;
};

inline const Input kAny{}, kAbove{{3, 4}, 0.2, 2}, kBits{{3, 4}, 1, 30, int32}, kRow{{4}}, kPlaces{{2}, 0, 3, int32};
inline const Input kSquare{{3, 3}}, kSingle{{3, 4}, -0.9, 0.9, float32};
inline array number(double value) { return array(value, float64); }
inline array whole(const array& a) { return matmul(a, swapaxes(a, -1, -2)) + eye(3, float64); }
inline array both(const std::pair<array, array>& parts) {
  return concatenate({flatten(parts.first), flatten(parts.second)});
}
inline array all_of(const std::vector<array>& parts) {
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

inline const std::vector<Row>& elementwise_rows() {
  static const std::vector<Input> kOne = {kAny}, kPositive = {kAbove}, kTwo = {kAny, kAny}, kTwoAbove = {kAny, kAbove};
  static const std::vector<Input> kInts = {kBits, {{3, 4}, 1, 5, int32}}, kFlags = {{{3, 4}, 0, 2, bool_}};
  static const std::vector<Row> kRows = {
      LT_UNARY(abs, {{{3, 4}, 0.1, 1}}),
      LT_UNARY(negative, kOne),
      LT_UNARY(positive, kOne),
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
      {"depends", [](const In& x) { return depends({x[0] * x[0], x[1]}, {sin(x[1])})[0] * x[1]; }, kTwo},
      {"to_fp8 from_fp8", [](const In& x) { return from_fp8(to_fp8(x[0]), float64); }, kOne, Slopes::kNone},
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
      LT_BINARY(logical_xor, kInts),
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

inline const std::vector<Row>& shape_rows() {
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
      {"pad: and back",
       [](const In& x) { return pad(pad(x[0] * x[0], 3, array(0), "reflect"), 2, array(0), "symmetric"); }},
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
      {"masked_scatter",
       [](const In& x) { return masked_scatter(x[0] * x[0], x[1], sin(x[2])); },
       {kAny, {{3, 4}, 0, 2, bool_}, {{12}}}},
      {"masked_scatter: of rows",
       [](const In& x) { return masked_scatter(x[0], x[1], x[2] * x[2]); },
       {kAny, {{3}, 0, 2, bool_}, {{3, 4}}}},
      {"diagonal", [](const In& x) { return diagonal(x[0] * x[0], 1); }},
      {"diag", [](const In& x) { return diag(diag(x[0] * x[0]), 1); }},
      {"trace", [](const In& x) { return trace(x[0] * x[0], 1, 0, 1); }},
  };
  return kRows;
}

inline const std::vector<Row>& folding_rows() {
  static const std::vector<Row> kRows = {
      {"sum", [](const In& x) { return sum(x[0] * x[0], 1); }},
      {"prod", [](const In& x) { return prod(x[0], 1); }},
      {"prod: of all", [](const In& x) { return prod(x[0] + number(1)); }},
      {"max", [](const In& x) { return max(x[0], 1); }},
      {"min", [](const In& x) { return min(x[0], 0, true); }},
      {"minmax", [](const In& x) { return std::get<0>(minmax(x[0], 1)) * std::get<1>(minmax(x[0], 1)); }},
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
      {"unique", [](const In& x) { return unique(x[0] * x[0], 13, false, false, false, sum(x[0]))[0] * number(2); }},
      {"unique: of integers",
       [](const In& x) { return all_of(unique(x[0], 4, true, true, true)); },
       {{{3, 4}, 0, 5, int32}}},
      {"matmul", [](const In& x) { return matmul(x[0], x[1]); }, {kAny, {{2, 4, 2}}}},
      {"matmul: of vectors", [](const In& x) { return matmul(x[0], x[1]) * x[0]; }, {kRow, kRow}},
      {"addmm", [](const In& x) { return addmm(x[0], x[1], x[2], 2.0F, 0.5F); }, {{{3, 2}}, kAny, {{4, 2}}}},
      {"gather_mm",
       [](const In& x) { return gather_mm(x[0], x[1], x[2], array({0, 2, 1})); },
       {{{2, 3, 4}}, {{3, 4, 2}}, {{3}, 0, 2, int32}}},
      {"segmented_mm",
       [](const In& x) { return segmented_mm(x[0], x[1], x[2]); },
       {kAny, {{4, 2}}, {{3, 2}, 0, 5, int32}}},
      {"block_masked_mm",
       [](const In& x) { return block_masked_mm(x[0], x[1], 2, x[2], array({true, false, true, true}, {2, 2})); },
       {kAny, {{4, 3}}, {{2, 2}}}},
      {"hadamard_transform", [](const In& x) { return hadamard_transform(x[0] * x[0]); }},
      {"hadamard_transform: of 24", [](const In& x) { return hadamard_transform(x[0], 0.5F); }, {{{2, 24}}}},
      {"tensordot", [](const In& x) { return tensordot(x[0], x[1], {1, 0}, {0, 1}); }, {kAny, {{4, 3, 2}}}},
      {"outer", [](const In& x) { return outer(x[0], x[1]); }, {kRow, {{3}}}},
      {"inner", [](const In& x) { return inner(x[0], x[1]); }, {kAny, {{2, 4}}}},
      {"vecdot", [](const In& x) { return vecdot(x[0], x[1]); }, {kAny, kRow}},
      {"kron", [](const In& x) { return kron(x[0], x[1]); }, {{{2, 3}}, {{2}}}},
      {"einsum", [](const In& x) { return einsum("ij,jk,ik->k", {x[0], x[1], matmul(x[0], x[1])}); }, {kAny, {{4, 2}}}},
      {"einsum: of dots", [](const In& x) { return einsum("...ij,kj", {x[0], x[1] * x[1]}); }, {{{2, 3, 4}}, {{2, 4}}}},
      {"conv3d",
       [](const In& x) { return conv3d(x[0], x[1], {1, 2, 1}, {0, 1, 1}); },
       {{{1, 3, 3, 2, 2}}, {{2, 2, 2, 2, 2}}}},
      {"conv_transpose1d",
       [](const In& x) { return conv_transpose1d(x[0], x[1], 2, 1, 1, 1); },
       {{{2, 4, 3}}, {{2, 3, 3}}}},
      {"conv_transpose2d",
       [](const In& x) { return conv_transpose2d(x[0], x[1], {2, 1}, {1, 0}, {1, 2}); },
       {{{1, 3, 3, 2}}, {{2, 2, 2, 2}}}},
      {"conv_transpose3d",
       [](const In& x) { return conv_transpose3d(x[0], x[1], {1, 2, 1}); },
       {{{1, 2, 2, 2, 2}}, {{1, 2, 1, 2, 2}}}},
      {"conv1d", [](const In& x) { return conv1d(x[0], x[1], 2, 1); }, {{{2, 5, 3}}, {{2, 3, 3}}}},
      {"conv2d", [](const In& x) { return conv2d(x[0], x[1], {2, 1}, {1, 0}); }, {{{1, 4, 4, 2}}, {{2, 3, 2, 2}}}},
      {"conv_general",
       [](const In& x) { return conv_general(x[0], x[1], {2}, {1}, {2}, {2}, {1}, 2, true); },
       {{{2, 6, 4}}, {{6, 2, 2}}}},
      {"rms_norm", [](const In& x) { return fast::rms_norm(x[0], x[1], 1e-3F); }, {kAny, kRow}},
      {"layer_norm", [](const In& x) { return fast::layer_norm(x[0], x[1], x[2], 1e-3F); }, {kAny, kRow, kRow}},
      {"rope", [](const In& x) { return fast::rope(x[0], 4, false, 10.0F, 1, 1); }, {kSingle}, Slopes::kRough},
      {"rope: from places",
       [](const In& x) { return fast::rope(x[0], 4, true, 10.0F, 1, x[1]); },
       {{{2, 3, 4}, -1, 1, float32}, {{2}, 0, 9, int32}},
       Slopes::kRough},
      {"cross_entropy",
       [](const In& x) { return fast::cross_entropy(x[0], x[1]); },
       {kSingle, {{3}, 0, 4, int32}},
       Slopes::kRough},
      {"gated_delta_update",
       [](const In& x) {
         return all_of(fast::gated_delta_update(x[0], x[0] * x[0], x[1], abs(x[2]), sin(x[2]), {}, x[3]));
       },
       {{{1, 3, 1, 2}, -1, 1, float32},
        {{1, 3, 2, 2}, -1, 1, float32},
        {{1, 3, 2}, 0.3, 1, float32},
        {{1, 3}, 0, 2, bool_}},
       Slopes::kRough},
      {"scaled_dot_product_attention: with sinks",
       [](const In& x) { return fast::scaled_dot_product_attention(x[0], x[1], x[1], 0.5F, "", {}, x[2]); },
       {{{1, 2, 3, 4}, -1, 1, float32}, {{1, 1, 3, 4}, -1, 1, float32}, {{2}, -1, 1, float32}},
       Slopes::kRough},
      {"scaled_dot_product_attention",
       [](const In& x) { return fast::scaled_dot_product_attention(x[0], x[1], x[2], 0.5F, "causal"); },
       {{{1, 2, 3, 4}, -1, 1, float32}, {{1, 1, 3, 4}, -1, 1, float32}, {{1, 1, 3, 4}, -1, 1, float32}},
       Slopes::kRough},
  };
  return kRows;
}

inline const std::vector<Row>& matrix_rows() {
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
      {"stft",
       [](const In& x) { return fft::stft(x[0], 4, 3, 3, x[1]); },
       {{{2, 9}, -1, 1, float32}, {{3}, 0.5, 1, float32}},
       Slopes::kRough},
      {"istft",
       [](const In& x) { return fft::istft(x[0], {}, 2, {}, x[1], true, fft::FFTNorm::Ortho, {}, 7); },
       {{{3, 4}, -1, 1, complex64}, {{4}, 0.5, 1, float32}},
       Slopes::kRough},
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

inline const std::vector<Row>& random_rows() {
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

}  // namespace lowtide::rows
