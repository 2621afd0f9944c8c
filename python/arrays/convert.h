#pragma once
/// Conversions between Python objects and arrays.
///
/// Python's lock and the graph's: an evaluation holds the graph's lock and may need Python's (to trace a function, to
/// release the owner of borrowed bytes). So a thread with Python's lock must never wait for the graph's: every call
/// that adds steps or evaluates goes through unlocked().
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
/// An array, a number, nested lists of them, a NumPy array, or an object with __dlpack__, __array__ or a buffer.
class ArrayLike : public nb::object {
  NB_OBJECT_DEFAULT(ArrayLike, nb::object, "ArrayLike", is_any)
};
/// A Dtype, its name, a Python type (int: int32, float: float32), or a type of NumPy or ml_dtypes.
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

/// Is it a Python number? Its type adapts to that of the other operand: an integer to any type but bool, a float to any
/// floating-point type.
bool is_number(nb::handle object);
/// `beside`: the type of the other operand, if this is a number.
array array_of(nb::handle like, std::optional<Dtype> beside = {});
std::pair<array, array> operands(nb::handle a, nb::handle b);
std::vector<array> arrays_of(nb::handle sequence);

/// An array from any ArrayLike, of its own type or of `dtype`. Without a copy if nothing has to be converted or
/// reordered: then the object must not change.
array made_of(nb::handle like, const std::optional<DtypeLike>& dtype, bool copy);
/// Evaluates, and returns the elements, row-major.
const void* elements_of(const array& a);
/// The number in an array with one element.
nb::object item_of(const array& a);
/// A read-only NumPy array of the same bytes. bfloat16 becomes ml_dtypes' type if that is installed, else float32.
nb::object numpy_of(const array& a);
nb::object dlpack_of(const array& a, bool versioned);
array from_dlpack_of(nb::handle object);

}  // namespace lowtide::python
