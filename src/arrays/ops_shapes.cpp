// Types, shapes, and arrays that are made of nothing.
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
array zeros_like(const array& a, StreamOrDevice s) { return constant(0, a.dtype(), a.shape(), s); }
array ones(const Shape& shape, Dtype dtype, StreamOrDevice s) { return filled("ones", 1, shape, dtype, s); }
array ones_like(const array& a, StreamOrDevice s) { return constant(1, a.dtype(), a.shape(), s); }
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
array cosines(std::string_view name, int m, double a0, double a1, double a2, StreamOrDevice s) {
  if (m < 0) fault(name, "found {} points", m);
  if (m < 2) return ones({m}, float32, s);
  const array angle = counter({m}, float32, 0, s) * constant(2 * M_PI / (m - 1), float32, {}, s);
  const array first = constant(a0, float32, {}, s) - constant(a1, float32, {}, s) * cos(angle, s);
  return a2 == 0 ? first : first + constant(a2, float32, {}, s) * cos(angle * 2, s);
}
}  // namespace
array bartlett(int m, StreamOrDevice s) {
  if (m < 0) fault("bartlett", "found {} points", m);
  if (m < 2) return ones({m}, float32, s);
  const array i = counter({m}, float32, 0, s) * constant(2.0 / (m - 1), float32, {}, s);
  return array(1.0F) - abs(i - array(1.0F), s);
}
array blackman(int m, StreamOrDevice s) { return cosines("blackman", m, 0.42, 0.5, 0.08, s); }
array hamming(int m, StreamOrDevice s) { return cosines("hamming", m, 0.54, 0.46, 0, s); }
array hanning(int m, StreamOrDevice s) { return cosines("hanning", m, 0.5, 0.5, 0, s); }

array astype(array a, Dtype dtype, StreamOrDevice s) { return as_type(a, dtype, s); }
array view(const array& a, const Dtype& dtype, StreamOrDevice s) {
  if (a.dtype().val == dtype.val) return a;
  const auto raw = [&](const array& x) {  // booleans are bytes
    return x.dtype().val == Dtype::Val::bool_ ? elementwise(Op::kConvert, {x}, uint8, s) : x;
  };
  const array from = raw(a);
  const Dtype as = dtype.val == Dtype::Val::bool_ ? uint8 : dtype;
  const int64_t old_size = from.dtype().size(), new_size = as.size();
  if (from.dtype().val == Dtype::Val::complex64 || as.val == Dtype::Val::complex64) {
    if (as.val == Dtype::Val::complex64) {
      const array pairs = view(from, float32, s);
      if (pairs.ndim() == 0 || pairs.shape(-1) % 2)
        fault("view", "found a last dimension of {} bytes, expected whole elements of {}",
              from.ndim() ? from.shape(-1) * old_size : old_size, dtype_to_string(dtype));
      Shape apart = pairs.shape();
      apart.back() /= 2;
      Shape shape = apart;
      apart.push_back(2);
      const array both = reshape_to(pairs, apart, s);
      return elementwise(Op::kComplex, {take(both, 0, -1, s), take(both, 1, -1, s)}, complex64, s);
    }
    const array both = stack({real(from, s), imag(from, s)}, -1, s);
    Shape shape = from.shape();
    if (shape.empty()) shape.push_back(1);
    shape.back() *= 2;
    return view(reshape_to(both, shape, s), dtype, s);
  }
  if (old_size == new_size) return elementwise(Op::kBitcast, {from}, as, s);
  if (from.ndim() == 0)
    fault("view", "found a scalar of {} bytes, expected elements as large as those of {}", old_size,
          dtype_to_string(dtype));
  // Through unsigned integers of both sizes, byte by byte.
  const auto word = [](int64_t size) { return size == 1 ? uint8 : size == 2 ? uint16 : size == 4 ? uint32 : uint64; };
  const array words =
      issubdtype(from.dtype(), unsignedinteger) ? from : elementwise(Op::kBitcast, {from}, word(old_size), s);
  array made = words;
  Shape shape = from.shape();
  if (old_size > new_size) {
    const int64_t parts = old_size / new_size;
    Shape wide = shape;
    wide.push_back(parts);
    const array spread = broadcast_in(words, wide, all_axes(shape.size()), s);
    const array by = counter(wide, word(old_size), static_cast<int64_t>(shape.size()), s) *
                     constant(static_cast<double>(8 * new_size), word(old_size), {}, s);
    const array cut = right_shift(spread, by, s) &
                      constant(std::ldexp(1.0, static_cast<int>(8 * new_size)) - 1, word(old_size), {}, s);
    shape.back() *= parts;
    made = reshape_to(as_type(cut, word(new_size), s), shape, s);
  } else {
    const int64_t parts = new_size / old_size;
    if (shape.back() % parts)
      fault("view", "found a last dimension of {} bytes, expected whole elements of {}", shape.back() * old_size,
            dtype_to_string(dtype));
    shape.back() /= parts;
    Shape apart = shape;
    apart.push_back(parts);
    const array wide = as_type(reshape_to(words, apart, s), word(new_size), s);
    const array by = counter(apart, word(new_size), static_cast<int64_t>(shape.size()), s) *
                     constant(static_cast<double>(8 * old_size), word(new_size), {}, s);
    made = reduce(left_shift(wide, by, s), Reducer::kSum, {static_cast<int64_t>(shape.size())}, s);
  }
  return as.val == made.dtype().val ? made : elementwise(Op::kBitcast, {made}, as, s);
}
array copy(array a, StreamOrDevice s) { return elementwise(Op::kSameValue, a, s); }
array contiguous(const array& a, bool, StreamOrDevice) { return a; }
array stop_gradient(const array& a, StreamOrDevice s) { return elementwise(Op::kStopGradient, a, s); }

array reshape(const array& a, Shape shape, StreamOrDevice s) {
  int64_t known = 1, unknown = -1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1) {
      if (unknown >= 0) fault("reshape", "found two extents of -1 in {}", to_string(shape));
      unknown = static_cast<int64_t>(d);
    } else {
      known *= shape[d];
    }
  }
  const auto size = static_cast<int64_t>(a.size());
  if (unknown >= 0) {
    if (known == 0 || size % known)
      fault("reshape", "found {} elements, which the shape {} can't have", size, to_string(shape));
    shape[at(unknown)] = size / known;
    known = size;
  }
  if (known != size) fault("reshape", "found {} elements, expected {} for the shape {}", size, known, to_string(shape));
  return reshape_to(a, shape, s);
}
array unflatten(const array& a, int axis, Shape shape, StreamOrDevice s) {
  const int64_t d = axis_of("unflatten", axis, a.ndim());
  Shape whole(a.shape().begin(), a.shape().begin() + d);
  int64_t known = 1;
  for (const int64_t extent : shape) known *= extent == -1 ? 1 : extent;
  for (int64_t extent : shape) whole.push_back(extent == -1 ? (known == 0 ? 0 : a.shape()[at(d)] / known) : extent);
  whole.insert(whole.end(), a.shape().begin() + d + 1, a.shape().end());
  return reshape(a, whole, s);
}
array flatten(const array& a, int start_axis, int end_axis, StreamOrDevice s) {
  if (a.ndim() == 0) return reshape_to(a, {1}, s);
  const int64_t from = axis_of("flatten", start_axis, a.ndim()), to = axis_of("flatten", end_axis, a.ndim());
  if (to < from) fault("flatten", "found axes {} to {}", from, to);
  Shape shape(a.shape().begin(), a.shape().begin() + from);
  int64_t together = 1;
  for (int64_t d = from; d <= to; ++d) together *= a.shape()[at(d)];
  shape.push_back(together);
  shape.insert(shape.end(), a.shape().begin() + to + 1, a.shape().end());
  return reshape_to(a, shape, s);
}
array flatten(const array& a, StreamOrDevice s) { return flatten(a, 0, -1, s); }
array squeeze(const array& a, const std::vector<int>& axes, StreamOrDevice s) {
  const Dims gone = axes_of("squeeze", axes, a.ndim());
  Shape shape;
  for (int64_t d = 0; d < static_cast<int64_t>(a.ndim()); ++d) {
    if (std::ranges::find(gone, d) == gone.end()) {
      shape.push_back(a.shape()[at(d)]);
    } else if (a.shape()[at(d)] != 1) {
      fault("squeeze", "found axis {} of an array of shape {}, expected one of extent 1", d, to_string(a.shape()));
    }
  }
  return reshape_to(a, shape, s);
}
array squeeze(const array& a, int axis, StreamOrDevice s) { return squeeze(a, std::vector<int>{axis}, s); }
array squeeze(const array& a, StreamOrDevice s) {
  Shape shape;
  for (const int64_t extent : a.shape()) {
    if (extent != 1) shape.push_back(extent);
  }
  return reshape_to(a, shape, s);
}
array expand_dims(const array& a, const std::vector<int>& axes, StreamOrDevice s) {
  Shape shape = a.shape();
  for (const int64_t axis : axes_of("expand_dims", axes, a.ndim() + axes.size())) shape.insert(shape.begin() + axis, 1);
  return reshape_to(a, shape, s);
}
array expand_dims(const array& a, int axis, StreamOrDevice s) { return expand_dims(a, std::vector<int>{axis}, s); }
array atleast_1d(const array& a, StreamOrDevice s) { return a.ndim() == 0 ? reshape_to(a, {1}, s) : a; }
array atleast_2d(const array& a, StreamOrDevice s) {
  return a.ndim() >= 2 ? a : reshape_to(a, {1, static_cast<int64_t>(a.size())}, s);
}
array atleast_3d(const array& a, StreamOrDevice s) {
  if (a.ndim() >= 3) return a;
  if (a.ndim() == 2) return reshape_to(a, {a.shape(0), a.shape(1), 1}, s);
  return reshape_to(a, {1, static_cast<int64_t>(a.size()), 1}, s);
}
array broadcast_to(const array& a, const Shape& shape, StreamOrDevice s) {
  return broadcast_as("broadcast_to", a, shape, s);
}
std::vector<array> broadcast_arrays(const std::vector<array>& inputs, StreamOrDevice s) {
  Shape shape;
  for (const array& a : inputs) shape = broadcast_shape("broadcast_arrays", shape, a.shape());
  std::vector<array> made;
  for (const array& a : inputs) made.push_back(broadcast_as("broadcast_arrays", a, shape, s));
  return made;
}
array transpose(const array& a, std::vector<int> axes, StreamOrDevice s) {
  if (axes.size() != a.ndim()) fault("transpose", "found {} axes of an array of {} dimensions", axes.size(), a.ndim());
  (void)axes_of("transpose", axes, a.ndim());
  Dims permutation;
  for (const int axis : axes) permutation.push_back(axis_of("transpose", axis, a.ndim()));
  return permute(a, permutation, s);
}
array transpose(const array& a, StreamOrDevice s) {
  Dims permutation = all_axes(a.ndim());
  std::ranges::reverse(permutation);
  return permute(a, permutation, s);
}
array matrix_transpose(const array& a, StreamOrDevice s) {
  if (a.ndim() < 2)
    fault("matrix_transpose", "found an array of shape {}, expected two dimensions", to_string(a.shape()));
  return swapaxes(a, -1, -2, s);
}
array swapaxes(const array& a, int axis1, int axis2, StreamOrDevice s) {
  Dims permutation = all_axes(a.ndim());
  std::swap(permutation[at(axis_of("swapaxes", axis1, a.ndim()))],
            permutation[at(axis_of("swapaxes", axis2, a.ndim()))]);
  return permute(a, permutation, s);
}
array moveaxis(const array& a, int source, int destination, StreamOrDevice s) {
  const int64_t from = axis_of("moveaxis", source, a.ndim()), to = axis_of("moveaxis", destination, a.ndim());
  Dims permutation = all_axes(a.ndim());
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return permute(a, permutation, s);
}
array flip(const array& a, const std::vector<int>& axes, StreamOrDevice s) {
  return reverse(a, axes_of("flip", axes, a.ndim()), s);
}
array flip(const array& a, int axis, StreamOrDevice s) { return flip(a, std::vector<int>{axis}, s); }
array flip(const array& a, StreamOrDevice s) { return reverse(a, all_axes(a.ndim()), s); }
array concatenate(std::vector<array> arrays, int axis, StreamOrDevice s) {
  if (arrays.empty()) fault("concatenate", "found no arrays");
  const int64_t d = axis_of("concatenate", axis, arrays[0].ndim());
  Dtype dtype = arrays[0].dtype();
  for (const array& a : arrays) {
    Shape other = a.shape(), first = arrays[0].shape();
    if (other.size() == first.size()) other[at(d)] = first[at(d)] = 0;
    if (other != first)
      fault("concatenate", "found the shapes {} and {}, expected equal extents beside axis {}",
            to_string(arrays[0].shape()), to_string(a.shape()), d);
    dtype = promote_types(dtype, a.dtype());
  }
  for (array& a : arrays) a = as_type(a, dtype, s);
  return join(arrays, d, s);
}
array concatenate(std::vector<array> arrays, StreamOrDevice s) {
  for (array& a : arrays) a = reshape(a, {-1}, s);
  return concatenate(std::move(arrays), 0, s);
}
array stack(const std::vector<array>& arrays, int axis, StreamOrDevice s) {
  if (arrays.empty()) fault("stack", "found no arrays");
  std::vector<array> parts;
  for (const array& a : arrays) {
    if (a.shape() != arrays[0].shape())
      fault("stack", "found the shapes {} and {}, expected equal ones", to_string(arrays[0].shape()),
            to_string(a.shape()));
    parts.push_back(expand_dims(a, axis, s));
  }
  return concatenate(std::move(parts), axis, s);
}
array stack(const std::vector<array>& arrays, StreamOrDevice s) { return stack(arrays, 0, s); }
std::vector<array> split(const array& a, const Shape& indices, int axis, StreamOrDevice s) {
  const int64_t d = axis_of("split", axis, a.ndim()), extent = a.shape()[at(d)];
  std::vector<array> parts;
  Dims starts(a.ndim(), 0), stops = a.shape();
  for (size_t i = 0; i <= indices.size(); ++i) {
    int64_t stop = i < indices.size() ? indices[i] : extent;
    if (stop < 0) stop += extent;
    stops[at(d)] = std::clamp(stop, starts[at(d)], extent);
    parts.push_back(slice_of(a, starts, stops, Dims(a.ndim(), 1), s));
    starts[at(d)] = stops[at(d)];
  }
  return parts;
}
std::vector<array> split(const array& a, const Shape& indices, StreamOrDevice s) { return split(a, indices, 0, s); }
std::vector<array> split(const array& a, int num_splits, int axis, StreamOrDevice s) {
  const int64_t extent = a.shape()[at(axis_of("split", axis, a.ndim()))];
  if (num_splits < 1 || extent % num_splits)
    fault("split", "found {} parts of an extent of {}, which isn't a multiple", num_splits, extent);
  Shape indices;
  for (int k = 1; k < num_splits; ++k) indices.push_back(k * (extent / num_splits));
  return split(a, indices, axis, s);
}
std::vector<array> split(const array& a, int num_splits, StreamOrDevice s) { return split(a, num_splits, 0, s); }
std::vector<array> unstack(const array& a, int axis, StreamOrDevice s) {
  std::vector<array> parts;
  const int64_t extent = a.shape()[at(axis_of("unstack", axis, a.ndim()))];
  for (int64_t i = 0; i < extent; ++i) parts.push_back(take(a, static_cast<int>(i), axis, s));
  return parts;
}
array repeat(const array& a, int repeats, int axis, StreamOrDevice s) {
  const int64_t d = axis_of("repeat", axis, a.ndim());
  if (repeats < 0) fault("repeat", "found {} repeats", repeats);
  Shape wide = a.shape(), shape = a.shape();
  wide.insert(wide.begin() + d + 1, repeats);
  shape[at(d)] *= repeats;
  Dims dimensions = all_axes(a.ndim());
  for (size_t k = at(d) + 1; k < dimensions.size(); ++k) ++dimensions[k];
  return reshape_to(broadcast_in(a, wide, dimensions, s), shape, s);
}
array repeat(const array& a, int repeats, StreamOrDevice s) { return repeat(reshape(a, {-1}, s), repeats, 0, s); }
array tile(const array& a, std::vector<int> reps, StreamOrDevice s) {
  Shape shape = a.shape();
  while (shape.size() < reps.size()) shape.insert(shape.begin(), 1);
  while (reps.size() < shape.size()) reps.insert(reps.begin(), 1);
  Shape wide, tiled;
  Dims dimensions;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (reps[d] < 0) fault("tile", "found {} repeats", reps[d]);
    wide.push_back(reps[d]);
    dimensions.push_back(static_cast<int64_t>(wide.size()));
    wide.push_back(shape[d]);
    tiled.push_back(reps[d] * shape[d]);
  }
  return reshape_to(broadcast_in(reshape_to(a, shape, s), wide, dimensions, s), tiled, s);
}
array pad(const array& a, const std::vector<int>& axes, const Shape& low_pad_size, const Shape& high_pad_size,
          const array& pad_value, const std::string& mode, StreamOrDevice s) {
  if (axes.size() != low_pad_size.size() || axes.size() != high_pad_size.size())
    fault("pad", "found {} axes, and widths for {} and {}", axes.size(), low_pad_size.size(), high_pad_size.size());
  if (mode != "constant" && mode != "edge")
    fault("pad", "found the mode \"{}\", expected \"constant\" or \"edge\"", mode);
  Dims low(a.ndim(), 0), high(a.ndim(), 0);
  for (size_t k = 0; k < axes.size(); ++k) {
    if (low_pad_size[k] < 0 || high_pad_size[k] < 0)
      fault("pad", "found the widths {} and {}", low_pad_size[k], high_pad_size[k]);
    const int64_t d = axis_of("pad", axes[k], a.ndim());
    low[at(d)] = low_pad_size[k];
    high[at(d)] = high_pad_size[k];
  }
  if (mode == "constant") {
    if (pad_value.size() != 1)
      fault("pad", "found a value of shape {}, expected a scalar", to_string(pad_value.shape()));
    return pad_with(a, reshape_to(as_type(pad_value, a.dtype(), s), {}, s), low, high, Dims(a.ndim(), 0), s);
  }
  array made = a;
  for (int64_t d = 0; d < static_cast<int64_t>(a.ndim()); ++d) {
    const int64_t extent = made.shape()[at(d)];
    const auto edge = [&](int64_t at_index, int64_t width) {
      Dims starts(a.ndim(), 0), stops = made.shape();
      starts[at(d)] = at_index;
      stops[at(d)] = at_index + 1;
      Shape wide = made.shape();
      wide[at(d)] = width;
      return broadcast_as("pad", slice_of(made, starts, stops, Dims(a.ndim(), 1), s), wide, s);
    };
    if (extent == 0) continue;
    std::vector<array> parts;
    if (low[at(d)] > 0) parts.push_back(edge(0, low[at(d)]));
    parts.push_back(made);
    if (high[at(d)] > 0) parts.push_back(edge(extent - 1, high[at(d)]));
    made = join(parts, d, s);
  }
  return made;
}
array pad(const array& a, const std::vector<std::pair<int, int>>& pad_width, const array& pad_value,
          const std::string& mode, StreamOrDevice s) {
  std::vector<int> axes;
  Shape low, high;
  for (size_t d = 0; d < pad_width.size(); ++d) {
    axes.push_back(static_cast<int>(d));
    low.push_back(pad_width[d].first);
    high.push_back(pad_width[d].second);
  }
  return pad(a, axes, low, high, pad_value, mode, s);
}
array pad(const array& a, const std::pair<int, int>& pad_width, const array& pad_value, const std::string& mode,
          StreamOrDevice s) {
  return pad(a, std::vector<std::pair<int, int>>(a.ndim(), pad_width), pad_value, mode, s);
}
array pad(const array& a, int pad_width, const array& pad_value, const std::string& mode, StreamOrDevice s) {
  return pad(a, std::pair<int, int>{pad_width, pad_width}, pad_value, mode, s);
}
array roll(const array& a, const Shape& shift, const std::vector<int>& axes, StreamOrDevice s) {
  if (shift.size() != axes.size() && shift.size() != 1)
    fault("roll", "found {} shifts of {} axes", shift.size(), axes.size());
  array made = a;
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t d = axis_of("roll", axes[k], a.ndim()), extent = a.shape()[at(d)];
    if (extent == 0) continue;
    const int64_t by = ((shift[shift.size() == 1 ? 0 : k] % extent) + extent) % extent;
    if (by == 0) continue;
    const auto parts = split(made, Shape{extent - by}, static_cast<int>(d), s);
    made = join({parts[1], parts[0]}, d, s);
  }
  return made;
}
array roll(const array& a, int shift, const std::vector<int>& axes, StreamOrDevice s) {
  return roll(a, Shape{shift}, axes, s);
}
array roll(const array& a, int shift, int axis, StreamOrDevice s) {
  return roll(a, Shape{shift}, std::vector<int>{axis}, s);
}
array roll(const array& a, int shift, StreamOrDevice s) {
  return reshape_to(roll(reshape(a, {-1}, s), shift, 0, s), a.shape(), s);
}
array as_strided(array a, Shape shape, std::vector<int64_t> strides, size_t offset, StreamOrDevice s) {
  if (shape.size() != strides.size())
    fault("as_strided", "found {} extents and {} strides", shape.size(), strides.size());
  const array line = reshape(a, {-1}, s);
  int64_t least = static_cast<int64_t>(offset), most = least;
  array places = constant(static_cast<double>(offset), int64, shape, s);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return zeros(shape, a.dtype(), s);
    (strides[d] < 0 ? least : most) += (shape[d] - 1) * strides[d];
    places = places + counter(shape, int64, static_cast<int64_t>(d), s) *
                          constant(static_cast<double>(strides[d]), int64, {}, s);
  }
  if (least < 0 || most >= static_cast<int64_t>(line.size()))
    fault("as_strided", "found elements {} to {} of {}", least, most, line.size());
  return take(line, places, 0, s);
}
array number_of_elements(const array& a, std::vector<int> axes, bool inverted, Dtype dtype, StreamOrDevice s) {
  double count = 1;
  const Dims chosen = axes_of("number_of_elements", axes, a.ndim());
  for (int64_t d = 0; d < static_cast<int64_t>(a.ndim()); ++d) {
    if ((std::ranges::find(chosen, d) != chosen.end()) != inverted) count *= static_cast<double>(a.shape()[at(d)]);
  }
  return constant(count, dtype, {}, s);
}

}  // namespace lowtide
