// Products of selected matrices and of parts of matrices.
#include <algorithm>
#include <bit>
#include <cmath>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace {

/// The matrices along one batch dimension, into which all leading dimensions are flattened.
array matrices_in_line(const array& a, StreamOrDevice s) { return reshape(a, {-1, a.shape(-2), a.shape(-1)}, s); }

array indices_of(const array& a, const std::optional<array>& given, StreamOrDevice s) {
  if (given) {
    if (!issubdtype(given->dtype(), integer))
      fault("gather_mm", "found indices of {}, expected integers", dtype_to_string(given->dtype()));
    return *given;
  }
  const Shape batch(a.shape().begin(), a.shape().end() - 2);
  return reshape_to(counter({element_count(batch)}, uint32, 0, s), batch, s);
}

/// The rows of the Hadamard matrices whose orders aren't powers of two: if bit j is set, element j is -1.
constexpr uint32_t kTwelve[] = {0x002, 0xaab, 0x3c8, 0x96e, 0xf20, 0x5ba, 0xc8c, 0x6e6, 0x23c, 0xb96, 0x8f0, 0xe5a};
constexpr uint32_t kTwenty[] = {0x933de, 0x2e3bd, 0x5477b, 0xa0ef7, 0x499ef, 0x637c1, 0xc6ba2,
                                0x8d764, 0x1aee8, 0x359f0, 0x0fa53, 0x174a7, 0x26d4e, 0x45e9c,
                                0x83d39, 0xf7a6d, 0xef4fa, 0xdedd5, 0xbdf8b, 0x7bf36};
constexpr uint32_t kTwentyEight[] = {0xcd69e7e, 0x9ad7c7d, 0x37ab8fb, 0x6d571f7, 0xd8ae3ef, 0xb3587df, 0x66b4f3f,
                                     0xb467f43, 0x6acbe87, 0xd593d8e, 0xab27b9c, 0x564f7b8, 0xac9aff0, 0x5b31fe1,
                                     0x87fb325, 0x0ff66ca, 0x1decd95, 0x39ddb2a, 0x71bf654, 0xe17eca9, 0xc2fd9d2,
                                     0xfcf1299, 0xfbe2532, 0xf7c4ae4, 0xef8d549, 0xdf1ea13, 0xbe3d4a6, 0x7e7a94c};

array signs(int64_t order, Dtype dtype) {
  std::vector<float> elements;
  for (int64_t i = 0; i < order; ++i) {
    for (int64_t j = 0; j < order; ++j) {
      bool is_negative = false;
      switch (order) {
        case 12: is_negative = kTwelve[i] >> j & 1; break;
        case 20: is_negative = kTwenty[i] >> j & 1; break;
        case 28: is_negative = kTwentyEight[i] >> j & 1; break;
        default: is_negative = std::popcount(static_cast<uint64_t>(i & j)) & 1;
      }
      elements.push_back(is_negative ? -1.0F : 1.0F);
    }
  }
  return array(elements.data(), {order, order}, dtype);
}

}  // namespace

array gather_mm(array a, array b, std::optional<array> lhs_indices, std::optional<array> rhs_indices, bool,
                StreamOrDevice s) {
  if (a.ndim() == 0 || b.ndim() == 0)
    fault("gather_mm", "found the shapes {} and {}, expected no scalars", to_string(a.shape()), to_string(b.shape()));
  (void)product_type("gather_mm", a, b);
  const bool is_row = a.ndim() == 1, is_column = b.ndim() == 1;
  if (is_row) a = expand_dims(a, 0, s);
  if (is_column) b = expand_dims(b, 1, s);
  const array left = indices_of(a, lhs_indices, s), right = indices_of(b, rhs_indices, s);
  const Shape batch = broadcast_shape("gather_mm", left.shape(), right.shape());
  const auto chosen = [&](const array& of, const std::optional<array>& given, const array& indices) {
    if (!given && indices.shape() == batch) return of;
    return take(matrices_in_line(of, s), broadcast_as("gather_mm", indices, batch, s), 0, s);
  };
  array product = matmul(chosen(a, lhs_indices, left), chosen(b, rhs_indices, right), s);
  if (is_row) product = squeeze(product, -2, s);
  if (is_column) product = squeeze(product, -1, s);
  return product;
}

array segmented_mm(array a, array b, array segments, StreamOrDevice s) {
  if (a.ndim() != 2 || b.ndim() != 2 || a.shape(1) != b.shape(0))
    fault("segmented_mm", "found the shapes {} and {}, expected two matrices that can be multiplied",
          to_string(a.shape()), to_string(b.shape()));
  const Dtype dtype = product_type("segmented_mm", a, b);
  if (!issubdtype(dtype, floating)) fault("segmented_mm", "found complex64, expected real numbers");
  if (!issubdtype(segments.dtype(), integer) || segments.ndim() == 0 || segments.shape(-1) != 2)
    fault("segmented_mm", "found segments of {} of shape {}, expected integers, two along the last dimension",
          dtype_to_string(segments.dtype()), to_string(segments.shape()));
  Shape shape(segments.shape().begin(), segments.shape().end() - 1);
  const array ends = reshape(as_type(segments, int64, s), {-1, 2}, s);
  const int64_t count = ends.shape(0), inner = a.shape(1);
  const array k = counter({count, 1, inner}, int64, 2, s);
  const auto end = [&](int which) { return reshape_to(take(ends, which, 1, s), {count, 1, 1}, s); };
  const array inside = logical_and(greater_equal(k, end(0), s), less(k, end(1), s), s);
  const array parts = where(inside, as_type(a, dtype, s), constant(0, dtype, {}, s), s);
  shape.insert(shape.end(), {a.shape(0), b.shape(1)});
  return reshape_to(matmul(parts, as_type(b, dtype, s), s), shape, s);
}

array block_masked_mm(array a, array b, int block_size, std::optional<array> mask_out, std::optional<array> mask_lhs,
                      std::optional<array> mask_rhs, StreamOrDevice s) {
  if (a.ndim() == 0 || b.ndim() == 0)
    fault("block_masked_mm", "found the shapes {} and {}, expected no scalars", to_string(a.shape()),
          to_string(b.shape()));
  if (block_size < 1) fault("block_masked_mm", "found blocks of {}, expected 1 or more", block_size);
  const Dtype dtype = product_type("block_masked_mm", a, b);
  const bool is_row = a.ndim() == 1, is_column = b.ndim() == 1;
  if (is_row) a = expand_dims(a, 0, s);
  if (is_column) b = expand_dims(b, 1, s);
  const auto masked = [&](const array& x, const std::optional<array>& mask) {
    if (!mask) return x;
    const int64_t rows = x.shape(-2), columns = x.shape(-1);
    const auto blocks = [&](int64_t extent) { return (extent + block_size - 1) / block_size; };
    if (mask->ndim() < 2 || mask->shape(-2) != blocks(rows) || mask->shape(-1) != blocks(columns))
      fault("block_masked_mm", "found a mask of shape {}, expected {} x {} blocks of {}", to_string(mask->shape()),
            blocks(rows), blocks(columns), block_size);
    const array wide = repeat(repeat(*mask, block_size, -1, s), block_size, -2, s);
    Dims stops = wide.shape();
    stops[stops.size() - 2] = rows;
    stops[stops.size() - 1] = columns;
    const array whole = slice_of(wide, Dims(wide.ndim(), 0), stops, Dims(wide.ndim(), 1), s);
    if (mask->dtype().val == Dtype::Val::bool_) return where(whole, x, constant(0, x.dtype(), {}, s), s);
    return multiply(x, as_type(whole, x.dtype(), s), s);
  };
  array product =
      masked(matmul(masked(as_type(a, dtype, s), mask_lhs), masked(as_type(b, dtype, s), mask_rhs), s), mask_out);
  if (is_row) product = squeeze(product, -2, s);
  if (is_column) product = squeeze(product, -1, s);
  return product;
}

array hadamard_transform(const array& a, std::optional<float> scale, StreamOrDevice s) {
  const array x = to_float(a, s);
  if (x.dtype().val == Dtype::Val::complex64) fault("hadamard_transform", "found complex64, expected real numbers");
  if (a.size() == 0) fault("hadamard_transform", "found an array of shape {}, expected elements", to_string(a.shape()));
  const int64_t n = a.ndim() == 0 ? 1 : a.shape(-1);
  int64_t order = n;
  while (order % 2 == 0 && order != 12 && order != 20 && order != 28) order /= 2;
  if (order != 1 && order != 12 && order != 20 && order != 28)
    fault("hadamard_transform", "found rows of {}, expected m 2^k with m of 1, 12, 20 or 28", n);
  // The matrix is the Kronecker product of those of orders m and 2^k: one product along each dimension of (rows, m, 64,
  // 64, ...).
  Shape apart = {static_cast<int64_t>(a.size()) / n, order};
  for (int64_t left = n / order; left > 1; left /= apart.back()) apart.push_back(std::min<int64_t>(left, 64));
  array made = reshape_to(x, apart, s);
  for (size_t d = 1; d < apart.size(); ++d) {
    if (apart[d] == 1) continue;
    const auto axis = static_cast<int64_t>(d);
    made = dot(made, signs(apart[d], x.dtype()),
               {.contract_a = {axis}, .contract_b = {1}, .batch_a = {}, .batch_b = {}}, x.dtype(), s);
    made = moveaxis(made, -1, static_cast<int>(axis), s);
  }
  const double by = scale ? *scale : 1 / std::sqrt(static_cast<double>(n));
  return reshape_to(made, a.shape(), s) * constant(by, x.dtype(), {}, s);
}

}  // namespace lowtide
