#include "convert.h"

#include <cstdint>
#include <limits>
#include <string>

#include "lowtide/ops.h"

namespace lowtide::python {
namespace {

constexpr int kTypes = static_cast<int>(Dtype::Val::complex64) + 1;

std::string name_of(nb::handle type) { return nb::cast<std::string>(nb::str(type.attr("__name__"))); }

std::optional<Dtype> dtype_named(std::string_view name) {
  if (name == "int") return int32;
  if (name == "float") return float32;
  if (name == "complex" || name == "complex128") return complex64;
  if (name == "bool_") return bool_;
  for (int v = 0; v < kTypes; ++v) {
    const Dtype type(static_cast<Dtype::Val>(v));
    if (dtype_to_string(type) == name) return type;
  }
  return {};
}

/// Can an integer type represent this number?
bool has(Dtype type, int64_t value) {
  const int bits = 8 * type.size();
  if (issubdtype(type, unsignedinteger)) return value >= 0 && (bits == 64 || value >> bits == 0);
  return bits == 64 || (value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1));
}

array whole_number(nb::handle number, std::optional<Dtype> beside) {
  int overflow = 0;
  const int64_t value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow > 0 && (!beside || beside->val == Dtype::Val::uint64)) {
    const uint64_t large = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred()) throw nb::python_error();
    return array(large, uint64);
  }
  if (beside && issubdtype(*beside, inexact)) {
    const double size = PyLong_AsDouble(number.ptr());
    if (PyErr_Occurred()) throw nb::python_error();
    return array(size, *beside);
  }
  const bool stated = beside && issubdtype(*beside, lowtide::integer);
  const Dtype type = stated ? *beside : has(int32, value) ? int32 : int64;
  if (overflow != 0 || !has(type, value))
    throw std::invalid_argument("array: found " + nb::cast<std::string>(nb::str(number)) + ", which " +
                                dtype_to_string(type) + " doesn't have");
  return array(value, type);
}

array number_of(nb::handle number, std::optional<Dtype> beside) {
  PyObject* const object = number.ptr();
  if (PyBool_Check(object)) return array(object == Py_True, beside.value_or(bool_));
  if (PyLong_Check(object)) return whole_number(number, beside);
  if (PyFloat_Check(object))
    return array(PyFloat_AsDouble(object), beside && issubdtype(*beside, inexact) ? *beside : float32);
  const auto value = nb::cast<std::complex<double>>(number);
  return array(complex64_t(value));
}

bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

bool holds_arrays(nb::handle list) {
  for (nb::handle entry : list) {
    if (nb::isinstance<array>(entry) || (is_list(entry) && holds_arrays(entry))) return true;
  }
  return false;
}

/// Keeps a Python object alive while an array uses its bytes. When the interpreter has ended, it does nothing.
std::function<void(void*)> kept(nb::object owner) {
  return [object = owner.release().ptr()](void*) {
    if (!Py_IsInitialized()) return;
    const nb::gil_scoped_acquire locked;
    Py_DECREF(object);
  };
}

struct Taking {
  std::optional<Dtype> as = {};
  bool copy = true;
  bool narrows = false;  ///< float64 and int64 stand for Python numbers, which are float32 and int32 here
};

/// An array of a NumPy array's elements, in its memory or in ours.
array from_numpy(nb::object from, const Taking& how) {
  nb::module_ numpy = nb::module_::import_("numpy");
  from = numpy.attr("require")(from, nb::none(), nb::make_tuple("C", "A"));
  if (!nb::cast<bool>(from.attr("dtype").attr("isnative")))
    from = from.attr("astype")(from.attr("dtype").attr("newbyteorder")("="));
  auto name = nb::cast<std::string>(from.attr("dtype").attr("name"));
  if (name == "complex128") {
    from = from.attr("astype")("complex64");
    name = "complex64";
  }
  const std::optional<Dtype> of = dtype_named(name);
  if (!of) throw std::invalid_argument("array: found elements of " + name + ", which arrays don't have");
  std::optional<Dtype> as = how.as;
  if (!as && how.narrows && of->val == Dtype::Val::float64) as = float32;
  if (!as && how.narrows && of->val == Dtype::Val::int64) {
    const bool fits =
        nb::cast<int64_t>(from.attr("size")) == 0 || (has(int32, nb::cast<int64_t>(nb::int_(from.attr("min")()))) &&
                                                      has(int32, nb::cast<int64_t>(nb::int_(from.attr("max")()))));
    as = fits ? int32 : int64;
  }
  auto shape = nb::cast<Shape>(from.attr("shape"));
  const auto address = nb::cast<uintptr_t>(from.attr("__array_interface__")["data"][0]);
  void* const data = reinterpret_cast<void*>(address);  // NOLINT: NumPy gives only an address
  if (how.copy || (as && as->val != of->val))
    return unlocked([&] { return array(data, *of, std::move(shape), as.value_or(*of)); });
  return array(data, std::move(shape), *of, kept(std::move(from)));
}

}  // namespace

Dtype dtype_of(nb::handle like) {
  if (nb::isinstance<Dtype>(like)) return *nb::inst_ptr<Dtype>(like);
  std::string name;
  if (PyUnicode_Check(like.ptr())) {
    name = nb::cast<std::string>(like);
  } else if (nb::hasattr(like, "__name__")) {
    name = name_of(like);
  } else if (nb::hasattr(like, "name")) {
    name = nb::cast<std::string>(nb::str(like.attr("name")));
  }
  if (const auto type = dtype_named(name)) return *type;
  throw std::invalid_argument("dtype: found " + nb::cast<std::string>(nb::repr(like)) +
                              ", expected a type that arrays have");
}

bool is_number(nb::handle object) {
  PyObject* const o = object.ptr();
  return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o);  // bool is an int
}

array made_of(nb::handle like, const std::optional<DtypeLike>& dtype, bool copy) {
  const std::optional<Dtype> as = dtype ? std::optional(dtype_of(*dtype)) : std::nullopt;
  const auto typed = [&](const array& a) {
    return as && as->val != a.dtype().val ? unlocked([&] { return astype(a, *as); }) : a;
  };
  if (nb::isinstance<array>(like)) return typed(*nb::inst_ptr<array>(like));
  if (is_number(like)) return typed(number_of(like, as));
  if (nb::hasattr(like, "__array_interface__")) return from_numpy(nb::borrow(like), {.as = as, .copy = copy});
  if (nb::hasattr(like, "__dlpack__")) {
    const array borrowed = from_dlpack_of(like);
    if (!copy) return typed(borrowed);
    const void* const data = elements_of(borrowed);
    return unlocked([&] { return array(data, borrowed.dtype(), borrowed.shape(), as.value_or(borrowed.dtype())); });
  }
  if (is_list(like) && holds_arrays(like)) {
    const std::vector<array> rows = arrays_of(like);
    return typed(unlocked([&] { return stack(rows); }));
  }
  nb::object numpys = nb::module_::import_("numpy").attr("asarray")(like);
  const auto kind = nb::cast<std::string>(numpys.attr("dtype").attr("kind"));
  if (kind == "O" || kind == "U" || kind == "S") throw nb::type_error(("array: found " + name_of(like.type())).c_str());
  return from_numpy(std::move(numpys), {.as = as, .copy = copy, .narrows = is_list(like)});
}

array array_of(nb::handle like, std::optional<Dtype> beside) {
  if (nb::isinstance<array>(like)) return *nb::inst_ptr<array>(like);
  return is_number(like) ? number_of(like, beside) : made_of(like, {}, true);
}

std::pair<array, array> operands(nb::handle a, nb::handle b) {
  if (is_number(a) == is_number(b)) return {array_of(a), array_of(b)};
  if (is_number(b)) {
    array x = array_of(a);
    array y = array_of(b, x.dtype());
    return {std::move(x), std::move(y)};
  }
  array y = array_of(b);
  return {array_of(a, y.dtype()), y};
}

std::vector<array> arrays_of(nb::handle sequence) {
  std::vector<array> made;
  if (nb::isinstance<array>(sequence)) return unlocked([&] { return unstack(*nb::inst_ptr<array>(sequence)); });
  for (nb::handle entry : sequence) made.push_back(array_of(entry));
  return made;
}

}  // namespace lowtide::python
