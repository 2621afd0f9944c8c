#pragma once
/// Helpers for bindings: one line has a library function, its parameters' names and a docstring. Functions that NumPy
/// also has as methods are bound as both by the same line.
#include <string>
#include <type_traits>

#include "convert.h"
#include "lowtide/ops.h"

namespace lowtide::python {

using Class = nb::class_<array>;
/// None (all axes), one axis, or several.
using Axes = std::optional<std::variant<int, std::vector<int>>>;
using Axis = std::optional<int>;
using ShapeLike = std::variant<int64_t, Shape>;
inline constexpr StreamOrDevice kHere{};  ///< streams are chosen per thread: lowtide.stream()

using Unary = array (*)(const array&, StreamOrDevice);
using Binary = array (*)(const array&, const array&, StreamOrDevice);

inline Shape shape_of(const ShapeLike& like) {
  return std::holds_alternative<Shape>(like) ? std::get<Shape>(like) : Shape{std::get<int64_t>(like)};
}
inline std::vector<int> axes_of(const std::variant<int, std::vector<int>>& axes) {
  return axes.index() == 0 ? std::vector<int>{std::get<0>(axes)} : std::get<1>(axes);
}

/// Makes a Python function of f, which takes an array and other arguments.
template <class... More, class F>
auto of_array(F f) {
  return [f](const ArrayLike& a, More... more) {
    const array x = array_of(a);
    return unlocked([&] { return f(x, more...); });
  };
}
/// The same for two arrays, one of which may be a number.
template <class... More, class F>
auto of_arrays(F f) {
  return [f](const ArrayLike& a, const ArrayLike& b, More... more) {
    const auto [x, y] = operands(a, b);
    return unlocked([&, &first = x, &second = y] { return f(first, second, more...); });
  };
}

inline void unary(nb::module_& m, const char* name, Unary f, const char* doc) {
  m.def(name, of_array([f](const array& a) { return f(a, kHere); }), "a"_a, doc);
}
inline void binary(nb::module_& m, const char* name, Binary f, const char* doc) {
  m.def(name, of_arrays([f](const array& a, const array& b) { return f(a, b, kHere); }), "a"_a, "b"_a, doc);
}
/// Binds a function of `m`, and a method.
template <class F, class... Extra>
void both(nb::module_& m, Class& of, const char* name, F f, const Extra&... extra) {
  m.def(name, f, "a"_a, extra...);
  of.def(name, f, extra...);
}

// One for each file of this folder.
void bind_types(nb::module_& m);
Class bind_array(nb::module_& m);
void bind_operators(Class& of);
void bind_indexing(nb::module_& m, Class& of);
void bind_making(nb::module_& m);
void bind_elementwise(nb::module_& m, Class& of);
void bind_reductions(nb::module_& m, Class& of);
void bind_shapes(nb::module_& m, Class& of);
void bind_joins(nb::module_& m, Class& of);
void bind_parts(nb::module_& m, Class& of);
void bind_products(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_fft(nb::module_& m);
void bind_fast(nb::module_& m);
void bind_random(nb::module_& m);
void bind_transforms(nb::module_& m);
void bind_memory(nb::module_& m);
void bind_streams(nb::module_& m);
void bind_files(nb::module_& m);

}  // namespace lowtide::python
