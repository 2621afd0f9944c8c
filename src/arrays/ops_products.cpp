// Matrix products and their relatives.
#include <algorithm>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace lazy {
Dtype product_type(std::string_view name, const array& a, const array& b) {
  const Dtype dtype = promote_types(a.dtype(), b.dtype());
  if (!issubdtype(dtype, inexact))
    fault(name, "found {} and {}, expected floats", dtype_to_string(a.dtype()), dtype_to_string(b.dtype()));
  return dtype;
}
}  // namespace lazy

namespace {

Dims range(int64_t from, int64_t to) {
  Dims made;
  for (int64_t d = from; d < to; ++d) made.push_back(d);
  return made;
}

}  // namespace

array matmul(const array& a, const array& b, StreamOrDevice s) {
  if (a.ndim() == 0 || b.ndim() == 0)
    fault("matmul", "found the shapes {} and {}, expected no scalars", to_string(a.shape()), to_string(b.shape()));
  const Dtype dtype = product_type("matmul", a, b);
  array x = as_type(a, dtype, s), y = as_type(b, dtype, s);
  if (x.ndim() == 1) x = expand_dims(x, 0, s);
  if (y.ndim() == 1) y = expand_dims(y, 1, s);
  if (x.shape(-1) != y.shape(-2))
    fault("matmul", "found the shapes {} and {}, whose inner extents differ", to_string(a.shape()),
          to_string(b.shape()));
  const Shape x_batch(x.shape().begin(), x.shape().end() - 2), y_batch(y.shape().begin(), y.shape().end() - 2);
  const Shape batch = broadcast_shape("matmul", x_batch, y_batch);
  const auto batches = static_cast<int64_t>(batch.size());
  array product = x;
  if (y.ndim() == 2) {  // one product of all rows of a with the matrix
    const auto rank = static_cast<int64_t>(x.ndim());
    product = dot(x, y, {.contract_a = {rank - 1}, .contract_b = {0}, .batch_a = {}, .batch_b = {}}, dtype, s);
  } else {
    const auto whole = [&](const array& m) {
      Shape shape = batch;
      shape.push_back(m.shape(-2));
      shape.push_back(m.shape(-1));
      return broadcast_as("matmul", m, shape, s);
    };
    product = dot(whole(x), whole(y),
                  {.contract_a = {batches + 1},
                   .contract_b = {batches},
                   .batch_a = range(0, batches),
                   .batch_b = range(0, batches)},
                  dtype, s);
  }
  Shape shape = product.shape();
  if (b.ndim() == 1) shape.pop_back();
  if (a.ndim() == 1) shape.erase(shape.end() - (b.ndim() == 1 ? 1 : 2));
  return reshape_to(product, shape, s);
}

array addmm(array c, array a, array b, const float& alpha, const float& beta, StreamOrDevice s) {
  const Dtype dtype = promote_types(c.dtype(), promote_types(a.dtype(), b.dtype()));
  (void)product_type("addmm", a, b);
  const array product = matmul(as_type(a, dtype, s), as_type(b, dtype, s), s);
  const auto scaled = [&](const array& x, float by) { return by == 1.0F ? x : x * constant(by, x.dtype(), {}, s); };
  return scaled(product, alpha) + scaled(as_type(c, dtype, s), beta);
}

array tensordot(const array& a, const array& b, const std::vector<int>& axes_a, const std::vector<int>& axes_b,
                StreamOrDevice s) {
  if (axes_a.size() != axes_b.size()) fault("tensordot", "found {} axes and {}", axes_a.size(), axes_b.size());
  (void)axes_of("tensordot", axes_a, a.ndim());
  (void)axes_of("tensordot", axes_b, b.ndim());
  DotDims dims;
  for (size_t k = 0; k < axes_a.size(); ++k) {
    dims.contract_a.push_back(axis_of("tensordot", axes_a[k], a.ndim()));
    dims.contract_b.push_back(axis_of("tensordot", axes_b[k], b.ndim()));
    if (a.shape(axes_a[k]) != b.shape(axes_b[k]))
      fault("tensordot", "found extents {} and {} of a pair of axes", a.shape(axes_a[k]), b.shape(axes_b[k]));
  }
  const Dtype dtype = product_type("tensordot", a, b);
  return dot(as_type(a, dtype, s), as_type(b, dtype, s), dims, dtype, s);
}
array tensordot(const array& a, const array& b, const int axis, StreamOrDevice s) {
  if (axis < 0 || axis > static_cast<int>(std::min(a.ndim(), b.ndim())))
    fault("tensordot", "found {} axes of arrays of {} and {} dimensions", axis, a.ndim(), b.ndim());
  std::vector<int> axes_a, axes_b;
  for (int k = 0; k < axis; ++k) {
    axes_a.push_back(k - axis);
    axes_b.push_back(k);
  }
  return tensordot(a, b, axes_a, axes_b, s);
}
array outer(const array& a, const array& b, StreamOrDevice s) {
  return multiply(reshape(a, {-1, 1}, s), reshape(b, {-1}, s), s);
}
array inner(const array& a, const array& b, StreamOrDevice s) {
  if (a.ndim() == 0 || b.ndim() == 0) return multiply(a, b, s);
  if (a.shape(-1) != b.shape(-1))
    fault("inner", "found the shapes {} and {}, whose last extents differ", to_string(a.shape()), to_string(b.shape()));
  return tensordot(a, b, {-1}, {-1}, s);
}
array vecdot(const array& a, const array& b, int axis, StreamOrDevice s) {
  return sum(conjugate(a, s) * b, axis, false, s);
}
array kron(const array& a, const array& b, StreamOrDevice s) {
  const size_t rank = std::max(a.ndim(), b.ndim());
  Shape x(rank - a.ndim(), 1), y(rank - b.ndim(), 1), wide_x, wide_y, shape;
  x.insert(x.end(), a.shape().begin(), a.shape().end());
  y.insert(y.end(), b.shape().begin(), b.shape().end());
  for (size_t d = 0; d < rank; ++d) {
    wide_x.insert(wide_x.end(), {x[d], 1});
    wide_y.insert(wide_y.end(), {1, y[d]});
    shape.push_back(x[d] * y[d]);
  }
  return reshape_to(reshape_to(a, wide_x, s) * reshape_to(b, wide_y, s), shape, s);
}

}  // namespace lowtide
