#pragma once
/// Between Python's objects and arrays.
///
/// Python's lock and the graph's: an evaluation holds the graph's lock, and may need Python's (a function that is
/// traced, the owner of borrowed bytes that is let go). So whoever has Python's lock never waits for the graph's:
/// every call that makes steps or evaluates goes by way of unlocked().
#include <nanobind/nanobind.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/array.h"

namespace lowtide::python {

namespace nb = nanobind;
using namespace nb::literals;

inline bool is_any(PyObject* /*object*/) { return true; }
/// An array, a number, nested lists of them, a NumPy array, or what has __dlpack__, __array__ or a buffer.
class ArrayLike : public nb::object {
  NB_OBJECT_DEFAULT(ArrayLike, nb::object, "ArrayLike", is_any)
};
/// A Dtype, its name, a type of Python's (int: int32, float: float32), or a type of NumPy's or ml_dtypes'.
class DtypeLike : public nb::object {
  NB_OBJECT_DEFAULT(DtypeLike, nb::object, "DtypeLike", is_any)
};

/// f(arguments...) without Python's lock.
template <class F, class... Args>
auto unlocked(F&& f, Args&&... args) {
  const nb::gil_scoped_release free;
  return f(std::forward<Args>(args)...);
}

Dtype dtype_of(nb::handle like);
inline Dtype dtype_or(const std::optional<DtypeLike>& like, Dtype usual) { return like ? dtype_of(*like) : usual; }

/// A number of Python's own, whose type gives way to that of the array beside it: an integer takes any type but bool,
/// a float any floating one.
bool is_number(nb::handle object);
/// `beside`: the type of the array beside a number.
array array_of(nb::handle like, std::optional<Dtype> beside = {});
std::pair<array, array> operands(nb::handle a, nb::handle b);
std::vector<array> arrays_of(nb::handle sequence);

/// Of any ArrayLike with its own type, or this one. Without a copy where nothing has to be converted or put in order:
/// the object must stay as it is then.
array made_of(nb::handle like, const std::optional<DtypeLike>& dtype, bool copy);
/// Evaluates; the elements, row-major.
const void* elements_of(const array& a);
/// Of an array with one element: the number.
nb::object item_of(const array& a);
/// A NumPy array of the same bytes, which can only be read. bfloat16 is ml_dtypes' where that is installed, else
/// float32.
nb::object numpy_of(const array& a);
nb::object dlpack_of(const array& a, bool versioned);
array from_dlpack_of(nb::handle object);

}  // namespace lowtide::python
