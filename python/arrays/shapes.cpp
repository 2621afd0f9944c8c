// Types, shapes, and the order of dimensions.
#include "bind.h"

namespace lowtide::python {
namespace {

array astype_of(const ArrayLike& a, const DtypeLike& dtype) {
  const array x = array_of(a);
  const Dtype type = dtype_of(dtype);
  return unlocked([&] { return astype(x, type); });
}

array view_of(const ArrayLike& a, const DtypeLike& dtype) {
  const array x = array_of(a);
  const Dtype type = dtype_of(dtype);
  return unlocked([&] { return view(x, type); });
}

/// (2, 3), or 2, 3, as NumPy's methods accept.
std::vector<int64_t> numbers_of(const nb::args& given) {
  if (given.size() == 1 && !PyIndex_Check(nb::object(given[0]).ptr())) return nb::cast<std::vector<int64_t>>(given[0]);
  return nb::cast<std::vector<int64_t>>(given);
}

array transposed(const array& a, const std::optional<std::vector<int>>& axes) {
  return axes ? transpose(a, *axes) : transpose(a);
}

}  // namespace

void bind_shapes(nb::module_& m, Class& of) {
  both(m, of, "astype", &astype_of, "dtype"_a, "The numbers as another type; floats are cut to integers.");
  both(m, of, "view", &view_of, "dtype"_a,
       "The same bytes as another type; the last dimension grows or shrinks with the size of an element.");
  both(m, of, "copy", of_array([](const array& a) { return copy(a); }), "The same elements.");
  m.def("contiguous", of_array<bool>([](const array& a, bool columns) { return contiguous(a, columns); }), "a"_a,
        "allow_col_major"_a = false, "The same elements, row-major.");
  unary(m, "stop_gradient", stop_gradient, "The same elements, which count as constant where it is differentiated.");
  m.def(
      "depends",
      [](const std::variant<array, std::vector<array>>& inputs,
         const std::variant<array, std::vector<array>>& dependencies) -> std::variant<array, std::vector<array>> {
        const auto list = [](const auto& given) {
          return given.index() == 0 ? std::vector<array>{std::get<0>(given)} : std::get<1>(given);
        };
        std::vector<array> made = unlocked([&] { return depends(list(inputs), list(dependencies)); });
        if (inputs.index() == 0) return made[0];
        return made;
      },
      "inputs"_a, "dependencies"_a,
      "The inputs, an array or several, which are there when the dependencies have been computed as well.");
  unary(
      m, "to_fp8", [](const array& a, StreamOrDevice s) { return to_fp8(a, s); },
      "Floats of 8 bits (E4M3FN) as uint8; beyond +-448, and NaN: +-448.");
  m.def(
      "from_fp8",
      [](const ArrayLike& a, const std::optional<DtypeLike>& dtype) {
        const array x = array_of(a);
        const Dtype type = dtype_or(dtype, bfloat16);
        return unlocked([&] { return from_fp8(x, type); });
      },
      "a"_a, "dtype"_a = nb::none(), "The floats that to_fp8() was made of, bfloat16 unless stated.");
  m.def("reshape", of_array<ShapeLike>([](const array& a, const ShapeLike& to) { return reshape(a, shape_of(to)); }),
        "a"_a, "shape"_a,
        "The same elements in this shape, of which one extent may be -1. ValueError of another size.");
  of.def(
      "reshape",
      [](const array& a, const nb::args& shape) {
        const Shape to = numbers_of(shape);
        return unlocked([&] { return reshape(a, to); });
      },
      "The same elements in this shape: reshape(2, -1), reshape((2, -1)).");
  m.def("unflatten",
        of_array<int, Shape>([](const array& a, int axis, const Shape& to) { return unflatten(a, axis, to); }), "a"_a,
        "axis"_a, "shape"_a, "One dimension as several.");
  both(m, of, "flatten", of_array<int, int>([](const array& a, int from, int to) { return flatten(a, from, to); }),
       "start_axis"_a = 0, "end_axis"_a = -1, "Dimensions from one up to another as one.");
  both(m, of, "ravel", of_array([](const array& a) { return flatten(a); }), "All elements in order.");
  both(m, of, "squeeze",
       of_array<Axes>([](const array& a, const Axes& axis) { return axis ? squeeze(a, axes_of(*axis)) : squeeze(a); }),
       "axis"_a = nb::none(), "Without dimensions of extent 1. ValueError of others.");
  m.def("expand_dims", of_array<std::variant<int, std::vector<int>>>([](const array& a, const auto& axis) {
          return expand_dims(a, axes_of(axis));
        }),
        "a"_a, "axis"_a, "With dimensions of extent 1 at these places of the result.");
  unary(m, "atleast_1d", atleast_1d, "With one dimension, if it has none.");
  unary(m, "atleast_2d", atleast_2d, "With two dimensions or more.");
  unary(m, "atleast_3d", atleast_3d, "With three dimensions or more.");
  m.def("broadcast_to",
        of_array<ShapeLike>([](const array& a, const ShapeLike& to) { return broadcast_to(a, shape_of(to)); }), "a"_a,
        "shape"_a, "Its elements repeated along new dimensions, and those of extent 1.");
  m.def(
      "broadcast_arrays",
      [](const nb::args& arrays) {
        const std::vector<array> in = arrays_of(arrays);
        return unlocked([&] { return broadcast_arrays(in); });
      },
      "arrays"_a, "All in the shape that they have together.");
  m.def("transpose", of_array<std::optional<std::vector<int>>>(transposed), "a"_a, "axes"_a = nb::none(),
        "Dimensions in this order, or in reverse.");
  of.def(
      "transpose",
      [](const array& a, const nb::args& axes) {
        std::optional<std::vector<int>> order;
        if (!axes.empty() && !axes[0].is_none()) {
          const std::vector<int64_t> given = numbers_of(axes);
          order.emplace(given.begin(), given.end());
        }
        return unlocked([&] { return transposed(a, order); });
      },
      "Dimensions in this order, or in reverse: transpose(1, 0), transpose((1, 0)), transpose().");
  unary(m, "matrix_transpose", matrix_transpose, "With its last two dimensions exchanged.");
  both(m, of, "swapaxes", of_array<int, int>([](const array& a, int x, int y) { return swapaxes(a, x, y); }), "axis1"_a,
       "axis2"_a, "With two dimensions exchanged.");
  both(m, of, "moveaxis", of_array<int, int>([](const array& a, int from, int to) { return moveaxis(a, from, to); }),
       "source"_a, "destination"_a, "With a dimension at another place.");
  m.def("flip",
        of_array<Axes>([](const array& a, const Axes& axis) { return axis ? flip(a, axes_of(*axis)) : flip(a); }),
        "a"_a, "axis"_a = nb::none(), "Backwards along axes.");
  m.def("as_strided",
        of_array<Shape, std::vector<int64_t>, size_t>(
            [](const array& a, const Shape& shape, const std::vector<int64_t>& strides, size_t offset) {
              return as_strided(a, shape, strides, offset);
            }),
        "a"_a, "shape"_a, "strides"_a, "offset"_a = 0,
        "Any arrangement: element i is element offset + sum of i[d] * strides[d], counted in elements.");
  m.def(
      "number_of_elements",
      [](const ArrayLike& a, const std::vector<int>& axes, bool inverted, const std::optional<DtypeLike>& dtype) {
        const array x = array_of(a);
        const Dtype type = dtype_or(dtype, int32);
        return unlocked([&] { return number_of_elements(x, axes, inverted, type); });
      },
      "a"_a, "axes"_a, "inverted"_a = false, "dtype"_a = nb::none(),
      "How many elements the axes have together, as a scalar; with inverted its reciprocal.");
}

}  // namespace lowtide::python
