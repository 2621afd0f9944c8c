// Operations on shapes, and on the order of dimensions and elements.
#include <algorithm>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

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
  if (shape.empty() || std::ranges::count(shape, -1) > 1)
    fault("unflatten", "found the shape {}, expected one of at least one dimension, with at most one -1",
          to_string(shape));
  int64_t known = 1;
  for (const int64_t extent : shape) known *= extent == -1 ? 1 : extent;
  for (int64_t extent : shape) whole.push_back(extent == -1 ? (known == 0 ? 0 : a.shape()[at(d)] / known) : extent);
  whole.insert(whole.end(), a.shape().begin() + d + 1, a.shape().end());
  return reshape(a, whole, s);
}
array flatten(const array& a, int start_axis, int end_axis, StreamOrDevice s) {
  if (a.ndim() == 0) return reshape_to(a, {1}, s);
  // Axes beyond the first or the last dimension mean that one.
  const auto rank = static_cast<int64_t>(a.ndim());
  const int64_t from = std::max<int64_t>(0, start_axis < 0 ? start_axis + rank : start_axis),
                to = std::min<int64_t>(rank - 1, end_axis < 0 ? end_axis + rank : end_axis);
  if (to < from) fault("flatten", "found axes {} to {} of an array of {} dimensions", start_axis, end_axis, a.ndim());
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
#define LT_ATLEAST(NAME)                                                   \
  std::vector<array> NAME(const std::vector<array>& a, StreamOrDevice s) { \
    std::vector<array> made;                                               \
    for (const array& one : a) made.push_back(NAME(one, s));               \
    return made;                                                           \
  }
LT_ATLEAST(atleast_1d)
LT_ATLEAST(atleast_2d)
LT_ATLEAST(atleast_3d)
#undef LT_ATLEAST
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
    stop = std::clamp<int64_t>(stop, 0, extent);
    stops[at(d)] = std::max(stop, starts[at(d)]);
    parts.push_back(slice_of(a, starts, stops, Dims(a.ndim(), 1), s));
    starts[at(d)] = stop;
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
std::vector<array> unstack(const array& a, StreamOrDevice s) { return unstack(a, 0, s); }
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
namespace {
/// Extends an axis at both ends with its own elements: the outermost ones ("edge"), or alternately reversed and
/// unreversed copies.
array extended(const array& a, int64_t d, int64_t low, int64_t high, const std::string& mode, StreamOrDevice s) {
  const int64_t extent = a.shape()[at(d)];
  const auto piece = [&](int64_t from, int64_t to) {
    Dims starts(a.ndim(), 0), stops = a.shape();
    starts[at(d)] = from;
    stops[at(d)] = to;
    return slice_of(a, starts, stops, Dims(a.ndim(), 1), s);
  };
  std::vector<array> parts;
  if (mode == "edge" || extent == 1) {
    const auto edge = [&](int64_t place, int64_t width) {
      Shape wide = a.shape();
      wide[at(d)] = width;
      if (width > 0) parts.push_back(broadcast_as("pad", piece(place, place + 1), wide, s));
    };
    edge(0, low);
    parts.push_back(a);
    edge(extent - 1, high);
    return join(parts, d, s);
  }
  // Each part is a run in one direction: place p is element p mod `period` of a forward and a backward run.
  const int64_t again = mode == "symmetric" ? 1 : 0, period = 2 * (extent - 1 + again);
  for (int64_t place = -low; place < extent + high;) {
    const int64_t phase = ((place % period) + period) % period;
    const bool forwards = phase < extent - 1 + again;
    const int64_t first = forwards ? phase : period - phase - again;
    const int64_t length = std::min(extent + high - place, forwards ? extent - 1 + again - first : first + again);
    parts.push_back(forwards ? piece(first, first + length) : reverse(piece(first + 1 - length, first + 1), {d}, s));
    place += length;
  }
  return join(parts, d, s);
}
}  // namespace
array pad(const array& a, const std::vector<int>& axes, const Shape& low_pad_size, const Shape& high_pad_size,
          const array& pad_value, const std::string& mode, StreamOrDevice s) {
  if (axes.size() != low_pad_size.size() || axes.size() != high_pad_size.size())
    fault("pad", "found {} axes, and widths for {} and {}", axes.size(), low_pad_size.size(), high_pad_size.size());
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "symmetric")
    fault("pad", "found the mode \"{}\", expected \"constant\", \"edge\", \"reflect\" or \"symmetric\"", mode);
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
    if (low[at(d)] + high[at(d)] == 0) continue;
    if (made.shape()[at(d)] == 0)
      fault("pad", "found axis {} of an array of shape {}, whose elements can't be repeated", d, to_string(a.shape()));
    made = extended(made, d, low[at(d)], high[at(d)], mode, s);
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
  if (shift.size() < axes.size()) fault("roll", "found {} shifts of {} axes", shift.size(), axes.size());
  array made = a;
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t d = axis_of("roll", axes[k], a.ndim()), extent = a.shape()[at(d)];
    if (extent == 0) continue;
    const int64_t by = ((shift[k] % extent) + extent) % extent;
    if (by == 0) continue;
    const auto parts = split(made, Shape{extent - by}, static_cast<int>(d), s);
    made = join({parts[1], parts[0]}, d, s);
  }
  return made;
}
array roll(const array& a, int shift, const std::vector<int>& axes, StreamOrDevice s) {
  return roll(a, Shape(axes.size(), shift), axes, s);
}
array roll(const array& a, const Shape& shift, int axis, StreamOrDevice s) {
  return roll(a, shift.empty() ? shift : Shape{std::accumulate(shift.begin(), shift.end(), int64_t{0})},
              std::vector<int>{axis}, s);
}
array roll(const array& a, const Shape& shift, StreamOrDevice s) {
  return reshape_to(roll(reshape(a, {-1}, s), shift, 0, s), a.shape(), s);
}
array roll(const array& a, int shift, int axis, StreamOrDevice s) {
  return roll(a, Shape{shift}, std::vector<int>{axis}, s);
}
array roll(const array& a, int shift, StreamOrDevice s) {
  return reshape_to(roll(reshape(a, {-1}, s), shift, 0, s), a.shape(), s);
}
array as_strided(array a, Shape shape, Strides strides, size_t offset, StreamOrDevice s) {
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
  for (const int64_t d : chosen) count *= static_cast<double>(a.shape()[at(d)]);
  return constant(inverted ? 1 / count : count, dtype, {}, s);
}

}  // namespace lowtide
