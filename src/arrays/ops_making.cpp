// Operations that create arrays without operands.
#include <algorithm>
#include <cmath>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace {
int64_t length_of(double start, double stop, double step) {
  if (step == 0 || std::isnan(start) || std::isnan(stop) || std::isnan(step))
    fault("arange", "found start {}, stop {}, step {}", start, stop, step);
  const double count = std::ceil((stop - start) / step);
  if (!(count < 0x1p62)) fault("arange", "found start {}, stop {}, step {}: too many elements", start, stop, step);
  return static_cast<int64_t>(std::max(0.0, count));
}
}  // namespace

array arange(double start, double stop, double step, Dtype dtype, StreamOrDevice s) {
  if (dtype.val == Dtype::Val::bool_) fault("arange", "found bool");
  const Shape shape = {length_of(start, stop, step)};
  const bool counts = !issubdtype(dtype, inexact);
  const Dtype type = counts ? dtype : dtype.val == Dtype::Val::float64 ? float64 : float32;
  if (counts) start = std::trunc(start), step = std::trunc(step);
  array numbers = counter(shape, type, 0, s);
  if (step != 1) numbers = numbers * constant(step, type, {}, s);
  if (start != 0) numbers = numbers + constant(start, type, {}, s);
  return as_type(numbers, dtype, s);
}
array arange(double start, double stop, double step, StreamOrDevice s) { return arange(start, stop, step, float32, s); }
array arange(double start, double stop, Dtype dtype, StreamOrDevice s) { return arange(start, stop, 1, dtype, s); }
array arange(double start, double stop, StreamOrDevice s) { return arange(start, stop, 1, float32, s); }
array arange(double stop, Dtype dtype, StreamOrDevice s) { return arange(0, stop, 1, dtype, s); }
array arange(double stop, StreamOrDevice s) { return arange(0, stop, 1, float32, s); }
array arange(int start, int stop, int step, StreamOrDevice s) {
  return arange(static_cast<double>(start), stop, step, int32, s);
}
array arange(int start, int stop, StreamOrDevice s) { return arange(static_cast<double>(start), stop, 1, int32, s); }
array arange(int stop, StreamOrDevice s) { return arange(0.0, stop, 1, int32, s); }

array linspace(double start, double stop, int num, bool endpoint, Dtype dtype, StreamOrDevice s) {
  if (num < 0) fault("linspace", "found {} numbers", num);
  if (num == 1) return full({1}, start, dtype, s);
  const double parts = endpoint ? num - 1 : num;
  const array share = counter({num}, float32, 0, s) * constant(1 / parts, float32, {}, s);
  const array numbers =
      (array(1.0F) - share) * constant(start, float32, {}, s) + share * constant(stop, float32, {}, s);
  const array ends = where(equal(counter({num}, int32, 0, s), array(endpoint ? num - 1 : -1), s),
                           constant(stop, float32, {}, s), numbers, s);
  return as_type(ends, dtype, s);
}

array full(Shape shape, array vals, Dtype dtype, StreamOrDevice s) {
  for (const int64_t extent : shape) {
    if (extent < 0) fault("full", "found the shape {}, expected extents from 0 on", to_string(shape));
  }
  return broadcast_as("full", as_type(vals, dtype, s), shape, s);
}
array full(Shape shape, array vals, StreamOrDevice s) {
  const Dtype dtype = vals.dtype();
  return full(std::move(shape), std::move(vals), dtype, s);
}
array full_like(const array& a, array vals, Dtype dtype, StreamOrDevice s) {
  return full(a.shape(), std::move(vals), dtype, s);
}
array full_like(const array& a, array vals, StreamOrDevice s) { return full(a.shape(), std::move(vals), a.dtype(), s); }
namespace {
array filled(std::string_view name, double value, const Shape& shape, Dtype dtype, StreamOrDevice s) {
  for (const int64_t extent : shape) {
    if (extent < 0) fault(name, "found the shape {}, expected extents from 0 on", to_string(shape));
  }
  return constant(value, dtype, shape, s);
}
}  // namespace
array zeros(const Shape& shape, Dtype dtype, StreamOrDevice s) { return filled("zeros", 0, shape, dtype, s); }
array zeros_like(const array& a, Dtype dtype, StreamOrDevice s) { return constant(0, dtype, a.shape(), s); }
array zeros_like(const array& a, StreamOrDevice s) { return zeros_like(a, a.dtype(), s); }
array ones(const Shape& shape, Dtype dtype, StreamOrDevice s) { return filled("ones", 1, shape, dtype, s); }
array ones_like(const array& a, Dtype dtype, StreamOrDevice s) { return constant(1, dtype, a.shape(), s); }
array ones_like(const array& a, StreamOrDevice s) { return ones_like(a, a.dtype(), s); }
array eye(int n, int m, int k, Dtype dtype, StreamOrDevice s) {
  if (n < 0 || m < 0) fault("eye", "found {} rows and {} columns", n, m);
  const Shape shape = {n, m};
  return as_type(equal(counter(shape, int64, 1, s), counter(shape, int64, 0, s) + constant(k, int64, {}, s), s), dtype,
                 s);
}
array identity(int n, Dtype dtype, StreamOrDevice s) { return eye(n, n, 0, dtype, s); }
namespace {
array below(const Shape& shape, int k, StreamOrDevice s) {
  const auto rank = static_cast<int64_t>(shape.size());
  return less_equal(counter(shape, int64, rank - 1, s), counter(shape, int64, rank - 2, s) + constant(k, int64, {}, s),
                    s);
}
}  // namespace
array tri(int n, int m, int k, Dtype dtype, StreamOrDevice s) {
  if (n < 0 || m < 0) fault("tri", "found {} rows and {} columns", n, m);
  return as_type(below({n, m}, k, s), dtype, s);
}
array tril(array x, int k, StreamOrDevice s) {
  if (x.ndim() < 2) fault("tril", "found an array of shape {}, expected two dimensions", to_string(x.shape()));
  return where(below(x.shape(), k, s), x, zeros_like(x, s), s);
}
array triu(array x, int k, StreamOrDevice s) {
  if (x.ndim() < 2) fault("triu", "found an array of shape {}, expected two dimensions", to_string(x.shape()));
  return where(below(x.shape(), k - 1, s), zeros_like(x, s), x, s);
}
std::vector<array> meshgrid(const std::vector<array>& arrays, bool sparse, const std::string& indexing,
                            StreamOrDevice s) {
  if (indexing != "xy" && indexing != "ij")
    fault("meshgrid", "found indexing \"{}\", expected \"xy\" or \"ij\"", indexing);
  const size_t rank = arrays.size();
  const auto place = [&](size_t i) { return indexing == "xy" && rank > 1 && i < 2 ? 1 - i : i; };
  Shape whole(rank, 1);
  std::vector<array> grids;
  for (size_t i = 0; i < rank; ++i) {
    if (arrays[i].ndim() > 1)
      fault("meshgrid", "found an array of shape {}, expected vectors", to_string(arrays[i].shape()));
    Shape shape(rank, 1);
    shape[place(i)] = whole[place(i)] = static_cast<int64_t>(arrays[i].size());
    grids.push_back(reshape_to(arrays[i], shape, s));
  }
  for (array& grid : grids) {
    if (!sparse) grid = broadcast_as("meshgrid", grid, whole, s);
  }
  return grids;
}
namespace {
/// a0 - a1 cos(2 pi i / (m - 1)) + a2 cos(4 pi i / (m - 1)).
array cosines(int m, double a0, double a1, double a2, StreamOrDevice s) {
  if (m < 2) return ones({std::max(m, 0)}, float32, s);
  const array angle = counter({m}, float32, 0, s) * constant(2 * M_PI / (m - 1), float32, {}, s);
  const array first = constant(a0, float32, {}, s) - constant(a1, float32, {}, s) * cos(angle, s);
  return a2 == 0 ? first : first + constant(a2, float32, {}, s) * cos(angle * 2, s);
}
}  // namespace
array bartlett(int m, StreamOrDevice s) {
  if (m < 2) return ones({std::max(m, 0)}, float32, s);
  const array i = counter({m}, float32, 0, s) * constant(2.0 / (m - 1), float32, {}, s);
  return array(1.0F) - abs(i - array(1.0F), s);
}
array blackman(int m, StreamOrDevice s) { return cosines(m, 0.42, 0.5, 0.08, s); }
array hamming(int m, StreamOrDevice s) { return cosines(m, 0.54, 0.46, 0, s); }
array hanning(int m, StreamOrDevice s) { return cosines(m, 0.5, 0.5, 0, s); }

}  // namespace lowtide
