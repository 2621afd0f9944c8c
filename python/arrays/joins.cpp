// Joining, splitting, repeating, padding and rolling arrays.
#include "bind.h"

namespace lowtide::python {
namespace {

using Widths = std::variant<int, std::pair<int, int>, std::vector<std::pair<int, int>>, std::tuple<int>>;

array pad_of(const ArrayLike& a, const Widths& width, const std::string& mode, const ArrayLike& value) {
  const array x = array_of(a), fill = array_of(value, x.dtype());
  return unlocked([&] {
    // One pair applies to all dimensions.
    if (width.index() == 2 && std::get<2>(width).size() == 1) return pad(x, std::get<2>(width)[0], fill, mode);
    if (width.index() == 3) return pad(x, std::get<0>(std::get<3>(width)), fill, mode);
    if (width.index() == 2) return pad(x, std::get<2>(width), fill, mode);
    if (width.index() == 1) return pad(x, std::get<1>(width), fill, mode);
    return pad(x, std::get<0>(width), fill, mode);
  });
}

using Shift = std::variant<int64_t, Shape>;
array rolled(const array& a, const Shift& shift, const Axes& axis) {
  if (!axis) return roll(a, shift.index() == 0 ? Shape{std::get<0>(shift)} : std::get<1>(shift));
  if (axis->index() == 0)
    return roll(a, shift.index() == 0 ? Shape{std::get<0>(shift)} : std::get<1>(shift), std::get<0>(*axis));
  const std::vector<int> axes = axes_of(*axis);
  return roll(a, shift.index() == 0 ? Shape(axes.size(), std::get<0>(shift)) : std::get<1>(shift), axes);
}

std::vector<array> split_of(const array& a, const std::variant<int, Shape>& where, int axis) {
  return where.index() == 0 ? split(a, std::get<0>(where), axis) : split(a, std::get<1>(where), axis);
}

}  // namespace

void bind_joins(nb::module_& m, Class& of) {
  m.def(
      "concatenate",
      [](const nb::object& arrays, Axis axis) {
        const std::vector<array> in = arrays_of(arrays);
        return unlocked([&] {
          if (axis) return concatenate(in, *axis);
          std::vector<array> lines;
          for (const array& a : in) lines.push_back(flatten(a));
          return concatenate(lines);
        });
      },
      "arrays"_a, nb::arg("axis").none() = 0, "One behind another along an axis; axis=None: all elements in order.");
  m.def(
      "stack",
      [](const nb::object& arrays, int axis) {
        const std::vector<array> in = arrays_of(arrays);
        return unlocked([&] { return stack(in, axis); });
      },
      "arrays"_a, "axis"_a = 0, "Beside each other along a new axis.");
  both(m, of, "split", of_array<std::variant<int, Shape>, int>(split_of), "indices_or_sections"_a, "axis"_a = 0,
       "Parts of equal extent, or between indices.");
  m.def("unstack", of_array<int>([](const array& a, int axis) { return unstack(a, axis); }), "a"_a, "axis"_a = 0,
        "Parts of extent 1, without that dimension.");
  both(m, of, "repeat", of_array<int, Axis>([](const array& a, int repeats, Axis axis) {
         return axis ? repeat(a, repeats, *axis) : repeat(a, repeats);
       }),
       "repeats"_a, "axis"_a = nb::none(), "Each element so many times; without axis of all elements in order.");
  m.def("tile", of_array<std::variant<int, std::vector<int>>>([](const array& a, const auto& reps) {
          return tile(a, axes_of(reps));
        }),
        "a"_a, "reps"_a, "The whole array, so many times along each dimension.");
  m.def("pad", &pad_of, "a"_a, "pad_width"_a, "mode"_a = "constant", "constant_values"_a = 0,
        "Wider by n, (before, after) or a pair for each dimension; mode: \"constant\", \"edge\", \"reflect\", "
        "\"symmetric\".");
  m.def("roll", of_array<Shift, Axes>(rolled), "a"_a, "shift"_a, "axis"_a = nb::none(),
        "Moved along axes, around the ends; without axis of all elements in order.");
}

}  // namespace lowtide::python
