// Operations that read and write parts of arrays.
#include <algorithm>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace {

/// The box of an array that NumPy's start:stop:stride selects.
struct Box {
  Dims starts, stops, strides;  ///< strides are positive
  Dims reversed;                ///< dimensions with a negative stride
  Shape shape;
};

Box box_of(std::string_view name, const Shape& of, const Shape& start, const Shape& stop, const Shape& strides) {
  if (start.size() != of.size() || stop.size() != of.size() || strides.size() != of.size())
    fault(name, "found {} starts, {} stops and {} strides for an array of shape {}", start.size(), stop.size(),
          strides.size(), to_string(of));
  Box box;
  for (size_t d = 0; d < of.size(); ++d) {
    const int64_t extent = of[d], step = strides[d];
    if (step == 0) fault(name, "found a stride of 0");
    const auto bounded = [&](int64_t place, int64_t least, int64_t most) {
      return std::clamp(place < 0 ? place + extent : place, least, most);
    };
    if (step > 0) {
      const int64_t from = bounded(start[d], 0, extent), to = std::max(from, bounded(stop[d], 0, extent));
      box.starts.push_back(from);
      box.stops.push_back(to);
      box.strides.push_back(step);
      box.shape.push_back((to - from + step - 1) / step);
    } else {
      // A stop before the first element is written as -extent - 1 or less.
      const int64_t from = bounded(start[d], -1, extent - 1);
      const int64_t to = stop[d] < -extent ? -1 : bounded(stop[d], -1, extent - 1);
      const int64_t count = std::max<int64_t>(0, (from - to - step - 1) / -step);
      const int64_t last = count == 0 ? from : from + (count - 1) * step;
      box.starts.push_back(std::max<int64_t>(0, last));
      box.stops.push_back(count == 0 ? box.starts.back() : from + 1);
      box.strides.push_back(-step);
      box.shape.push_back(count);
      box.reversed.push_back(static_cast<int64_t>(d));
    }
  }
  return box;
}

void check_indices(std::string_view name, const array& indices) {
  if (!issubdtype(indices.dtype(), integer))
    fault(name, "found indices of {}, expected integers", dtype_to_string(indices.dtype()));
}

/// Indices counted from 0; negative ones count from the end.
array from_zero(std::string_view name, const array& indices, int64_t extent, StreamOrDevice s) {
  check_indices(name, indices);
  const Dtype dtype = extent > INT32_MAX || indices.dtype().size() == 8 ? int64 : int32;
  if (issubdtype(indices.dtype(), unsignedinteger))
    return as_type(indices, extent > INT32_MAX || indices.dtype().size() >= 4 ? int64 : int32, s);
  const array signed_ones = as_type(indices, dtype, s);
  const array zero = constant(0, dtype, {}, s);
  return where(less(signed_ones, zero, s), signed_ones + constant(static_cast<double>(extent), dtype, {}, s),
               signed_ones, s);
}

/// HLO's index vectors, along a last dimension, and the indices' common shape.
std::pair<array, Shape> vectors_of(std::string_view name, const array& a, const std::vector<array>& indices,
                                   const std::vector<int>& axes, StreamOrDevice s) {
  if (indices.size() != axes.size()) fault(name, "found {} arrays of indices for {} axes", indices.size(), axes.size());
  (void)axes_of(name, axes, a.ndim());
  if (const auto negative = std::ranges::find_if(axes, [](int axis) { return axis < 0; }); negative != axes.end())
    fault(name, "found axis {}, expected axes counted from 0", *negative);
  Shape shape;
  std::vector<array> places;
  Dtype dtype = int32;
  for (size_t k = 0; k < indices.size(); ++k) {
    places.push_back(from_zero(name, indices[k], a.shape(axes[k]), s));
    shape = broadcast_shape(name, shape, indices[k].shape());
    dtype = promote_types(dtype, places.back().dtype());
  }
  Shape vector = shape;
  vector.push_back(1);
  std::vector<array> columns;
  for (const array& place : places)
    columns.push_back(reshape_to(broadcast_as(name, as_type(place, dtype, s), shape, s), vector, s));
  if (columns.empty()) {
    vector.back() = 0;
    return {constant(0, int32, vector, s), shape};
  }
  return {join(columns, static_cast<int64_t>(shape.size()), s), shape};
}

/// Slices that keep all dimensions, placed after the indices' dimensions.
GatherDims slices_at(const array& a, const std::vector<int>& axes, size_t index_rank, const Shape& slice_sizes) {
  GatherDims dims;
  for (size_t d = 0; d < a.ndim(); ++d) dims.offset_dims.push_back(static_cast<int64_t>(index_rank + d));
  for (const int axis : axes) dims.start_index_map.push_back(axis < 0 ? axis + static_cast<int64_t>(a.ndim()) : axis);
  dims.slice_sizes = slice_sizes;
  return dims;
}

}  // namespace

array slice(const array& a, Shape start, Shape stop, Shape strides, StreamOrDevice s) {
  const Box box = box_of("slice", a.shape(), start, stop, strides);
  // Dimensions with a negative stride are read in ascending order, then reversed.
  return reverse(slice_of(a, box.starts, box.stops, box.strides, s), box.reversed, s);
}
array slice(const array& a, Shape start, Shape stop, StreamOrDevice s) {
  Shape ones(start.size(), 1);
  return slice(a, std::move(start), std::move(stop), std::move(ones), s);
}
array slice(const array& a, const array& start, std::vector<int> axes, Shape slice_size, StreamOrDevice s) {
  if (start.ndim() > 1 || start.size() != axes.size())
    fault("slice", "found starts of shape {} for {} axes", to_string(start.shape()), axes.size());
  if (slice_size.size() != a.ndim())
    fault("slice", "found {} extents for an array of shape {}", slice_size.size(), to_string(a.shape()));
  for (size_t d = 0; d < a.ndim(); ++d) {
    if (slice_size[d] < 0 || slice_size[d] > a.shape()[d])
      fault("slice", "found slices of {}, expected at most {}", to_string(slice_size), to_string(a.shape()));
  }
  (void)axes_of("slice", axes, a.ndim());
  const array places = reshape_to(as_type(start, issubdtype(start.dtype(), unsignedinteger) ? int64 : start.dtype(), s),
                                  {static_cast<int64_t>(axes.size())}, s);
  return gather_slices(a, places, slices_at(a, axes, 0, slice_size), slice_size, s);
}

namespace {
enum class How { kReplace, kAdd, kMultiply, kMaximum, kMinimum };

array updated(std::string_view name, const array& src, const array& update, const Shape& start, const Shape& stop,
              const Shape& strides, How how, StreamOrDevice s) {
  const Box box = box_of(name, src.shape(), start, stop, strides);
  const array value = broadcast_as(name, as_type(update, src.dtype(), s), box.shape, s);
  if (element_count(box.shape) == 0) return src;
  const array put = reverse(value, box.reversed, s);
  const bool dense = std::ranges::all_of(box.strides, [](int64_t stride) { return stride == 1; });
  if (how == How::kReplace && dense) {
    if (src.ndim() == 0) return put;
    return update_slice(src, put, box.starts, s);
  }
  Dims low = box.starts, high, interior;
  for (size_t d = 0; d < low.size(); ++d) {
    interior.push_back(box.strides[d] - 1);
    high.push_back(src.shape()[d] - low[d] - ((box.shape[d] - 1) * box.strides[d] + 1));
  }
  const array apart = pad_with(put, constant(0, src.dtype(), {}, s), low, high, interior, s);
  const array there = pad_with(constant(1, bool_, box.shape, s), constant(0, bool_, {}, s), low, high, interior, s);
  switch (how) {
    case How::kReplace: return where(there, apart, src, s);
    case How::kAdd: return where(there, src + apart, src, s);
    case How::kMultiply: return where(there, src * apart, src, s);
    case How::kMaximum: return where(there, maximum(src, apart, s), src, s);
    case How::kMinimum: return where(there, minimum(src, apart, s), src, s);
  }
  return src;
}
Shape ones_of(const Shape& shape) { return Shape(shape.size(), 1); }
}  // namespace

#define LT_UPDATE(NAME, HOW)                                                                                    \
  array NAME(const array& src, const array& update, Shape start, Shape stop, Shape strides, StreamOrDevice s) { \
    return updated(#NAME, src, update, start, stop, strides, HOW, s);                                           \
  }                                                                                                             \
  array NAME(const array& src, const array& update, Shape start, Shape stop, StreamOrDevice s) {                \
    return updated(#NAME, src, update, start, stop, ones_of(start), HOW, s);                                    \
  }
LT_UPDATE(slice_update, How::kReplace)
LT_UPDATE(slice_update_add, How::kAdd)
LT_UPDATE(slice_update_prod, How::kMultiply)
LT_UPDATE(slice_update_max, How::kMaximum)
LT_UPDATE(slice_update_min, How::kMinimum)
#undef LT_UPDATE
array slice_update(const array& src, const array& update, const array& start, std::vector<int> axes, StreamOrDevice s) {
  if (start.ndim() > 1 || start.size() != axes.size())
    fault("slice_update", "found starts of shape {} for {} axes", to_string(start.shape()), axes.size());
  Shape size = src.shape();
  if (update.ndim() == src.ndim()) size = update.shape();
  const array value = broadcast_as("slice_update", as_type(update, src.dtype(), s), size, s);
  // Starts out of bounds are clamped, as in slice().
  array places = reshape_to(as_type(start, int64, s), {static_cast<int64_t>(axes.size())}, s);
  std::vector<int64_t> most;
  for (const int axis : axes) {
    const size_t d = at(axis_of("slice_update", axis, src.ndim()));
    if (size[d] > src.shape()[d])
      fault("slice_update", "found an update of shape {} of an array of shape {}", to_string(size),
            to_string(src.shape()));
    most.push_back(src.shape()[d] - size[d]);
  }
  places = maximum(minimum(places, array(most.begin(), {static_cast<int64_t>(most.size())}, int64), s),
                   constant(0, int64, {}, s), s);
  return scatter_slices(src, places, value, Scatter::kReplace, slices_at(src, axes, 0, size), s);
}

array gather(const array& a, const std::vector<array>& indices, const std::vector<int>& axes, const Shape& slice_sizes,
             StreamOrDevice s) {
  const auto [vectors, shape] = vectors_of("gather", a, indices, axes, s);
  if (slice_sizes.size() != a.ndim())
    fault("gather", "found {} slice sizes for an array of shape {}", slice_sizes.size(), to_string(a.shape()));
  for (size_t d = 0; d < a.ndim(); ++d) {
    if (slice_sizes[d] < 0 || slice_sizes[d] > a.shape()[d])
      fault("gather", "found slices of {}, expected at most {}", to_string(slice_sizes), to_string(a.shape()));
  }
  Shape result = shape;
  result.insert(result.end(), slice_sizes.begin(), slice_sizes.end());
  return gather_slices(a, vectors, slices_at(a, axes, shape.size(), slice_sizes), result, s);
}

array take(const array& a, const array& indices, int axis, StreamOrDevice s) {
  const int64_t d = axis_of("take", axis, a.ndim());
  if (a.shape()[at(d)] == 0) {
    check_indices("take", indices);
    if (indices.size() > 0) fault("take", "found an axis without elements");
    Shape none = a.shape();
    none.erase(none.begin() + d);
    none.insert(none.begin() + d, indices.shape().begin(), indices.shape().end());
    return zeros(none, a.dtype(), s);
  }
  const array places = from_zero("take", indices, a.shape()[at(d)], s);
  Shape vectors = indices.shape();
  vectors.push_back(1);
  GatherDims dims;
  dims.slice_sizes = a.shape();
  dims.slice_sizes[at(d)] = 1;
  dims.collapsed = {d};
  dims.start_index_map = {d};
  Shape shape(a.shape().begin(), a.shape().begin() + d);
  const auto rank = static_cast<int64_t>(indices.ndim());
  for (int64_t k = 0; k < d; ++k) dims.offset_dims.push_back(k);
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  for (int64_t k = d + 1; k < static_cast<int64_t>(a.ndim()); ++k) dims.offset_dims.push_back(k - 1 + rank);
  shape.insert(shape.end(), a.shape().begin() + d + 1, a.shape().end());
  return gather_slices(a, reshape_to(places, vectors, s), dims, shape, s);
}
array take(const array& a, int index, int axis, StreamOrDevice s) {
  const int64_t d = axis_of("take", axis, a.ndim()), extent = a.shape()[at(d)];
  if (index < -extent || index >= extent) fault("take", "found index {} of {} elements", index, extent);
  Dims starts(a.ndim(), 0), stops = a.shape();
  starts[at(d)] = index < 0 ? index + extent : index;
  stops[at(d)] = starts[at(d)] + 1;
  Shape shape = a.shape();
  shape.erase(shape.begin() + d);
  return reshape_to(slice_of(a, starts, stops, Dims(a.ndim(), 1), s), shape, s);
}
array take(const array& a, const array& indices, StreamOrDevice s) { return take(reshape(a, {-1}, s), indices, 0, s); }
array take(const array& a, int index, StreamOrDevice s) { return take(reshape(a, {-1}, s), index, 0, s); }

namespace {
/// Single elements along axis d, with all other dimensions as batch dimensions of operand and indices.
GatherDims along(const array& a, int64_t d) {
  GatherDims dims;
  for (int64_t k = 0; k < static_cast<int64_t>(a.ndim()); ++k) {
    if (k != d) {
      dims.batching.push_back(k);
      dims.index_batching.push_back(k);
    }
  }
  dims.collapsed = {d};
  dims.start_index_map = {d};
  dims.slice_sizes = Dims(a.ndim(), 1);
  return dims;
}
/// Indices along axis d, broadcast to a's extents in all other dimensions, as index vectors of one element.
array along_vectors(std::string_view name, const array& a, const array& indices, int64_t d, StreamOrDevice s) {
  if (indices.ndim() != a.ndim())
    fault(name, "found indices of shape {} for an array of shape {}", to_string(indices.shape()), to_string(a.shape()));
  Shape shape = a.shape();
  shape[at(d)] = indices.shape()[at(d)];
  if (a.shape()[at(d)] == 0 && shape[at(d)] > 0) fault(name, "found an axis without elements");
  const array places = broadcast_as(name, from_zero(name, indices, a.shape()[at(d)], s), shape, s);
  shape.push_back(1);
  return reshape_to(places, shape, s);
}
array put_along(std::string_view name, const array& a, const array& indices, const array& values, int axis,
                Scatter kind, StreamOrDevice s) {
  const int64_t d = axis_of(name, axis, a.ndim());
  const array vectors = along_vectors(name, a, indices, d, s);
  Shape shape = vectors.shape();
  shape.pop_back();
  if (a.size() == 0) return a;
  return scatter_slices(a, vectors, broadcast_as(name, as_type(values, a.dtype(), s), shape, s), kind, along(a, d), s);
}
}  // namespace
array take_along_axis(const array& a, const array& indices, int axis, StreamOrDevice s) {
  const int64_t d = axis_of("take_along_axis", axis, a.ndim());
  const array vectors = along_vectors("take_along_axis", a, indices, d, s);
  Shape shape = vectors.shape();
  shape.pop_back();
  if (a.size() == 0) return zeros(shape, a.dtype(), s);
  return gather_slices(a, vectors, along(a, d), shape, s);
}
array put_along_axis(const array& a, const array& indices, const array& values, int axis, StreamOrDevice s) {
  return put_along("put_along_axis", a, indices, values, axis, Scatter::kReplace, s);
}
array scatter_add_axis(const array& a, const array& indices, const array& values, int axis, StreamOrDevice s) {
  return put_along("scatter_add_axis", a, indices, values, axis, Scatter::kAdd, s);
}

namespace {
array scattered(std::string_view name, const array& a, const std::vector<array>& indices, const array& updates,
                const std::vector<int>& axes, Scatter kind, StreamOrDevice s) {
  const auto [vectors, shape] = vectors_of(name, a, indices, axes, s);
  if (updates.ndim() != shape.size() + a.ndim())
    fault(name, "found updates of shape {}, expected the indices' {} dimensions and then {}",
          to_string(updates.shape()), shape.size(), a.ndim());
  const Shape slice_sizes(updates.shape().begin() + static_cast<int64_t>(shape.size()), updates.shape().end());
  for (size_t d = 0; d < a.ndim(); ++d) {
    if (slice_sizes[d] > a.shape()[d])
      fault(name, "found slices of {}, expected at most {}", to_string(slice_sizes), to_string(a.shape()));
  }
  Shape whole = shape;
  whole.insert(whole.end(), slice_sizes.begin(), slice_sizes.end());
  return scatter_slices(a, vectors, broadcast_as(name, as_type(updates, a.dtype(), s), whole, s), kind,
                        slices_at(a, axes, shape.size(), slice_sizes), s);
}
}  // namespace
array scatter(const array& a, const std::vector<array>& indices, const array& updates, const std::vector<int>& axes,
              StreamOrDevice s) {
  return scattered("scatter", a, indices, updates, axes, Scatter::kReplace, s);
}
array scatter_add(const array& a, const std::vector<array>& indices, const array& updates, const std::vector<int>& axes,
                  StreamOrDevice s) {
  return scattered("scatter_add", a, indices, updates, axes, Scatter::kAdd, s);
}
array scatter_prod(const array& a, const std::vector<array>& indices, const array& updates,
                   const std::vector<int>& axes, StreamOrDevice s) {
  return scattered("scatter_prod", a, indices, updates, axes, Scatter::kMultiply, s);
}
array scatter_max(const array& a, const std::vector<array>& indices, const array& updates, const std::vector<int>& axes,
                  StreamOrDevice s) {
  return scattered("scatter_max", a, indices, updates, axes, Scatter::kMaximum, s);
}
array scatter_min(const array& a, const std::vector<array>& indices, const array& updates, const std::vector<int>& axes,
                  StreamOrDevice s) {
  return scattered("scatter_min", a, indices, updates, axes, Scatter::kMinimum, s);
}

array masked_scatter(const array& a, const array& mask, const array& src, StreamOrDevice s) {
  const size_t masked = mask.ndim();
  if (mask.dtype().val != Dtype::Val::bool_)
    fault("masked_scatter", "found a mask of {}, expected bool", dtype_to_string(mask.dtype()));
  if (masked > a.ndim() || !std::equal(mask.shape().begin(), mask.shape().end(), a.shape().begin()))
    fault("masked_scatter", "found a mask of shape {}, expected the first extents of {}", to_string(mask.shape()),
          to_string(a.shape()));
  Shape aligned = mask.shape();
  aligned.resize(a.ndim(), 1);
  const array there = reshape_to(mask, aligned, s), values = as_type(src, a.dtype(), s);
  const size_t slice_rank = a.ndim() - masked;
  if (src.ndim() <= slice_rank || (src.ndim() == slice_rank + 1 && src.shape(0) == 1))
    return where(there, broadcast_as("masked_scatter", values, a.shape(), s), a, s);
  if (src.ndim() != slice_rank + 1 || src.shape(0) == 0)
    fault("masked_scatter", "found elements of shape {} for {} dimensions behind the mask's", to_string(src.shape()),
          slice_rank);
  Shape rows(a.shape().begin() + static_cast<int64_t>(masked), a.shape().end());
  rows.insert(rows.begin(), src.shape(0));
  // The k-th true element of the mask gets row k of src.
  const array rank = cumsum(as_type(reshape(mask, {-1}, s), int32, s), 0, false, false, s);
  const array row = minimum(rank, constant(static_cast<double>(src.shape(0) - 1), int32, {}, s), s);
  const array chosen = take(broadcast_as("masked_scatter", values, rows, s), row, 0, s);
  return where(there, reshape_to(chosen, a.shape(), s), a, s);
}

array diagonal(const array& a, int offset, int axis1, int axis2, StreamOrDevice s) {
  if (a.ndim() < 2) fault("diagonal", "found an array of {} dimensions, expected two or more", a.ndim());
  const int64_t x = axis_of("diagonal", axis1, a.ndim()), y = axis_of("diagonal", axis2, a.ndim());
  if (x == y) fault("diagonal", "found one axis twice");
  Dims order;
  for (int64_t d = 0; d < static_cast<int64_t>(a.ndim()); ++d) {
    if (d != x && d != y) order.push_back(d);
  }
  order.push_back(x);
  order.push_back(y);
  const array matrices = permute(a, order, s);
  const int64_t rows = a.shape()[at(x)], columns = a.shape()[at(y)];
  const int64_t row = offset < 0 ? -offset : 0, column = offset > 0 ? offset : 0;
  const int64_t count = std::max<int64_t>(0, std::min(rows - row, columns - column));
  Shape lines = matrices.shape();
  lines.pop_back();
  lines.back() = rows * columns;
  Dims starts(lines.size(), 0), stops = lines, strides(lines.size(), 1);
  starts.back() = count ? row * columns + column : 0;
  stops.back() = count ? starts.back() + (count - 1) * (columns + 1) + 1 : 0;
  strides.back() = columns + 1;
  return slice_of(reshape_to(matrices, lines, s), starts, stops, strides, s);
}
array diag(const array& a, int k, StreamOrDevice s) {
  if (a.ndim() == 2) return diagonal(a, k, 0, 1, s);
  if (a.ndim() != 1) fault("diag", "found an array of shape {}, expected a vector or a matrix", to_string(a.shape()));
  const int64_t n = a.shape(0) + std::abs(k);
  const array columns = counter({n, n}, int64, 1, s), rows = counter({n, n}, int64, 0, s);
  const array padded = pad_with(a, constant(0, a.dtype(), {}, s), {k > 0 ? k : 0}, {k < 0 ? -k : 0}, {0}, s);
  return where(equal(columns, rows + constant(k, int64, {}, s), s), broadcast_in(padded, {n, n}, {1}, s),
               zeros({n, n}, a.dtype(), s), s);
}
array trace(const array& a, int offset, int axis1, int axis2, Dtype dtype, StreamOrDevice s) {
  return as_type(sum(as_type(diagonal(a, offset, axis1, axis2, s), dtype, s), -1, false, s), dtype, s);
}
array trace(const array& a, int offset, int axis1, int axis2, StreamOrDevice s) {
  return sum(diagonal(a, offset, axis1, axis2, s), -1, false, s);
}
array trace(const array& a, StreamOrDevice s) { return trace(a, 0, 0, 1, s); }

}  // namespace lowtide
