// Functions for parts of arrays: slices, gathers and scatters, diagonals. x[...] and x.at[...] are in indexing.cpp.
#include "bind.h"

namespace lowtide::python {
namespace {

using SliceUpdate = array (*)(const array&, const array&, Shape, Shape, Shape, StreamOrDevice);
using Scatter = array (*)(const array&, const std::vector<array>&, const array&, const std::vector<int>&,
                          StreamOrDevice);
using Along = array (*)(const array&, const array&, const array&, int, StreamOrDevice);
constexpr std::pair<const char*, SliceUpdate> kSliceUpdates[] = {{"slice_update", slice_update},
                                                                 {"slice_update_add", slice_update_add},
                                                                 {"slice_update_prod", slice_update_prod},
                                                                 {"slice_update_max", slice_update_max},
                                                                 {"slice_update_min", slice_update_min}};
constexpr std::pair<const char*, Scatter> kScatters[] = {{"scatter", scatter},
                                                         {"scatter_add", scatter_add},
                                                         {"scatter_prod", scatter_prod},
                                                         {"scatter_max", scatter_max},
                                                         {"scatter_min", scatter_min}};

std::vector<array> indices_of(const nb::object& indices) {
  if (PyList_Check(indices.ptr()) || PyTuple_Check(indices.ptr())) return arrays_of(indices);
  return {array_of(indices)};
}

}  // namespace

void bind_parts(nb::module_& m, Class& of) {
  m.def("slice",
        of_array<Shape, Shape, std::optional<Shape>>(
            [](const array& a, const Shape& start, const Shape& stop, const std::optional<Shape>& strides) {
              return strides ? slice(a, start, stop, *strides) : slice(a, start, stop);
            }),
        "a"_a, "start"_a, "stop"_a, "strides"_a = nb::none(),
        "From start up to stop, of each dimension; negative ones count from the end, negative strides go backwards.");
  m.def(
      "slice_at",
      [](const ArrayLike& a, const ArrayLike& start, const std::vector<int>& axes, const Shape& extents) {
        const array x = array_of(a), from = array_of(start);
        return unlocked([&] { return slice(x, from, axes, extents); });
      },
      "a"_a, "start"_a, "axes"_a, "slice_size"_a,
      "A slice from where an array of integers says, in these axes; places that don't fit are moved in.");
  m.def(
      "slice_update_at",
      [](const ArrayLike& a, const ArrayLike& update, const ArrayLike& start, const std::vector<int>& axes) {
        const array x = array_of(a), with = array_of(update, x.dtype()), from = array_of(start);
        return unlocked([&] { return slice_update(x, with, from, axes); });
      },
      "a"_a, "update"_a, "start"_a, "axes"_a, "a with an update in the place of slice_at().");
  for (const auto& [name, f] : kSliceUpdates) {
    const auto update = [f = f](const array& a, const array& with, const Shape& start, const Shape& stop,
                                const std::optional<Shape>& strides) {
      return f(a, with, start, stop, strides.value_or(Shape(start.size(), 1)), kHere);
    };
    m.def(name, of_arrays<Shape, Shape, std::optional<Shape>>(update), "a"_a, "update"_a, "start"_a, "stop"_a,
          "strides"_a = nb::none(), "a with an update in the place of slice(), or what both come to there.");
  }
  m.def(
      "gather",
      [](const ArrayLike& a, const nb::object& indices, const std::variant<int, std::vector<int>>& axes,
         const Shape& slice_sizes) {
        const array x = array_of(a);
        const std::vector<array> at = indices_of(indices);
        return unlocked([&] { return gather(x, at, axes_of(axes), slice_sizes); });
      },
      "a"_a, "indices"_a, "axes"_a, "slice_sizes"_a,
      "Slices at each index: indices of the axes are broadcast, their dimensions come first. What is out of bounds is "
      "moved in.");
  for (const auto& [name, f] : kScatters) {
    m.def(
        name,
        [f = f](const ArrayLike& a, const nb::object& indices, const ArrayLike& updates,
                const std::variant<int, std::vector<int>>& axes) {
          const array x = array_of(a), with = array_of(updates, x.dtype());
          const std::vector<array> at = indices_of(indices);
          return unlocked([&] { return f(x, at, with, axes_of(axes), kHere); });
        },
        "a"_a, "indices"_a, "updates"_a, "axes"_a,
        "Updates at each index, which have the indices' dimensions and then a slice's; what is out of bounds is left "
        "out.");
  }
  both(
      m, of, "take",
      [](const ArrayLike& a, const ArrayLike& indices, Axis axis) {
        const array x = array_of(a), at = array_of(indices);
        return unlocked([&] { return axis ? take(x, at, *axis) : take(x, at); });
      },
      "indices"_a, "axis"_a = nb::none(), "Elements or slices at indices; without axis of all elements in order.");
  m.def(
      "take_along_axis",
      [](const ArrayLike& a, const ArrayLike& indices, Axis axis) {
        const array x = array_of(a), at = array_of(indices);
        return unlocked([&] { return axis ? take_along_axis(x, at, *axis) : take_along_axis(flatten(x), at, 0); });
      },
      "a"_a, "indices"_a, "axis"_a.none(),
      "Elements at an index of their own along an axis; axis=None: of all elements in order.");
  m.def(
      "masked_scatter",
      [](const ArrayLike& a, const ArrayLike& mask, const ArrayLike& values) {
        const array x = array_of(a), where = array_of(mask), with = array_of(values, x.dtype());
        return unlocked([&] { return masked_scatter(x, where, with); });
      },
      "a"_a, "mask"_a, "values"_a,
      "a with values, in order, where the mask of its first dimensions is true: one for each, or one for all.");
  const auto put = [&](const char* name, Along f, const char* doc) {
    m.def(
        name,
        [f](const ArrayLike& a, const ArrayLike& indices, const ArrayLike& values, int axis) {
          const array x = array_of(a), at = array_of(indices), with = array_of(values, x.dtype());
          return unlocked([&] { return f(x, at, with, axis, kHere); });
        },
        "a"_a, "indices"_a, "values"_a, "axis"_a, doc);
  };
  put("put_along_axis", put_along_axis, "a with values at indices along an axis; NumPy changes a, this doesn't.");
  put("scatter_add_axis", scatter_add_axis, "a plus values at indices along an axis.");
  both(m, of, "diagonal",
       of_array<int, int, int>([](const array& a, int offset, int x, int y) { return diagonal(a, offset, x, y); }),
       "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "Diagonals, along the last dimension.");
  m.def("diag", of_array<int>([](const array& a, int k) { return diag(a, k); }), "a"_a, "k"_a = 0,
        "A diagonal of a matrix, or the matrix with a vector there.");
  both(
      m, of, "trace",
      [](const ArrayLike& a, int offset, int axis1, int axis2, const std::optional<DtypeLike>& dtype) {
        const array x = array_of(a);
        const std::optional<Dtype> type = dtype ? std::optional(dtype_of(*dtype)) : std::nullopt;
        return unlocked([&] { return type ? trace(x, offset, axis1, axis2, *type) : trace(x, offset, axis1, axis2); });
      },
      "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "dtype"_a = nb::none(), "The sum of a diagonal.");
}

}  // namespace lowtide::python
