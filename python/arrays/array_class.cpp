// The class `array`: its properties, construction, and conversion to Python and to other libraries.
#include <sstream>

#include "bind.h"
#include "lowtide/transforms.h"

namespace lowtide::python {
namespace {

std::string printed(const array& a) {
  return unlocked([&] {
    std::ostringstream out;
    out << a;
    return out.str();
  });
}

int64_t length_of(const array& a) {
  if (a.ndim() == 0) throw nb::type_error("len() of an array without dimensions");
  return a.shape()[0];
}

/// NumPy's integers can be used as indices.
nb::object index_of(const array& a) {
  if (!issubdtype(a.dtype(), integer) || a.ndim() != 0)
    throw nb::type_error("only an array of one integer, without dimensions, is an index");
  return item_of(a);
}

nb::object as_numpy(const array& a, const nb::object& dtype, std::optional<bool> copy) {
  nb::object made = numpy_of(a);
  const bool converts =
      !dtype.is_none() && !made.attr("dtype").equal(nb::module_::import_("numpy").attr("dtype")(dtype));
  if (converts && copy == false) throw std::invalid_argument("__array__: another type needs a copy");
  if (converts) return made.attr("astype")(dtype);
  return copy == true ? made.attr("copy")() : made;
}

nb::object as_dlpack(const array& a, const nb::object& /*stream*/,
                     const std::optional<std::pair<int, int>>& max_version,
                     const std::optional<std::pair<int, int>>& dl_device, std::optional<bool> copy) {
  if (dl_device && dl_device != std::pair(1, 0)) throw nb::buffer_error("arrays are the processor's");
  const bool versioned = max_version && max_version->first >= 1;
  if (copy != true) return dlpack_of(a, versioned);
  const void* const elements = elements_of(a);
  return dlpack_of(unlocked([&] { return array(elements, a.dtype(), a.shape(), a.dtype()); }), versioned);
}

}  // namespace

Class bind_array(nb::module_& m) {
  Class of(m, "array",
           "An array that is computed when it is needed, and never changed. array(obj, dtype=None) copies a number, "
           "lists, an array of NumPy's or of whoever has __dlpack__, __array__ or a buffer; Python's integers are "
           "int32 (int64 where they are larger), its floats float32. ValueError for what arrays don't have.");
  of.def(
      "__init__",
      [](array* self, const ArrayLike& object, const std::optional<DtypeLike>& dtype) {
        new (self) array(made_of(object, dtype, true));
      },
      "object"_a, "dtype"_a = nb::none());
  m.def(
      "asarray", [](const ArrayLike& a, const std::optional<DtypeLike>& dtype) { return made_of(a, dtype, false); },
      "a"_a, "dtype"_a = nb::none(),
      "As array() makes it, and without a copy where nothing is converted and elements are row-major: they must stay "
      "as they are until no array has them.");
  m.def(
      "from_dlpack", [](const nb::object& x) { return from_dlpack_of(x); }, "x"_a,
      "The elements of another library's array, where they lie: they must stay as they are. What isn't row-major is a "
      "view that is put in order where it is read. ValueError of other devices, TypeError of what has no __dlpack__.");

  of.def_prop_ro(
      "shape", [](const array& a) { return nb::tuple(nb::cast(a.shape())); }, "Extents.",
      nb::sig("def shape(self) -> tuple[int, ...]"));
  of.def_prop_ro("ndim", &array::ndim, "Dimensions.");
  of.def_prop_ro("size", &array::size, "Elements.");
  of.def_prop_ro("dtype", &array::dtype, "The type of an element.");
  of.def_prop_ro("itemsize", &array::itemsize, "Bytes of an element.");
  of.def_prop_ro("nbytes", &array::nbytes, "Bytes of all elements.");
  of.def_prop_ro(
      "is_available", [](const array& a) { return unlocked([&] { return a.is_available(); }); },
      "Is it computed, and done?");

  of.def(
      "item", [](const array& a) { return item_of(a); },
      "Of an array with one element: the number, evaluated. ValueError of another.");
  of.def(
      "tolist",
      [](const array& a) {
        const bool is_small = a.dtype().val == Dtype::Val::bfloat16;  // ml_dtypes' elements keep their type
        return numpy_of(is_small ? unlocked([&] { return astype(a, float32); }) : a).attr("tolist")();
      },
      "Nested lists of numbers, evaluated.");
  of.def(
      "eval",
      [](array& a) {
        unlocked([&] {
          a.eval();
          return 0;
        });
      },
      "Computes it, and waits.");
  of.def(
      "wait",
      [](const array& a) {
        unlocked([&] {
          a.wait();
          return 0;
        });
      },
      "Until what async_eval() began for it is done; raises what went wrong there.");
  of.def("__bool__", [](const array& a) { return nb::cast<bool>(nb::bool_(item_of(a))); });
  of.def("__int__", [](const array& a) { return nb::int_(item_of(a)); });
  of.def("__float__", [](const array& a) { return nb::float_(item_of(a)); });
  of.def("__complex__", [](const array& a) { return nb::cast<std::complex<double>>(item_of(a)); });
  of.def("__index__", &index_of, nb::sig("def __index__(self) -> int"));
  of.def("__len__", &length_of);
  of.def(
      "__iter__",
      [](const array& a) {
        length_of(a);
        return nb::iter(nb::cast(unlocked([&] { return unstack(a); })));
      },
      nb::sig("def __iter__(self) -> collections.abc.Iterator[array]"));
  of.def("__repr__", &printed);
  of.def("__str__", &printed);
  of.def("__format__", [](const array& a, const std::string& how) {
    if (how.empty()) return nb::str(printed(a).c_str());
    return nb::str(item_of(a).attr("__format__")(how));
  });
  of.attr("__hash__") = nb::none();      // == is elementwise
  of.attr("__array_priority__") = 1000;  // NumPy's operators defer to ours
  of.attr("__array_ufunc__") = nb::none();

  of.def("__array__", &as_numpy, "dtype"_a = nb::none(), "copy"_a = nb::none(),
         "A NumPy array of the same bytes, which can only be read; bfloat16 is ml_dtypes', float32 without that.");
  of.def("__dlpack__", &as_dlpack, nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
         "dl_device"_a = nb::none(), "copy"_a = nb::none(), "Its bytes for other libraries, which may only read them.");
  of.def("__dlpack_device__", [](const array&) { return std::pair(1, 0); });
  of.def("__copy__", [](const array& a) { return a; });
  of.def("__deepcopy__", [](const array& a, const nb::object&) { return a; }, "memo"_a);
  of.def("__reduce__", [](const array& a) {
    nb::module_ arrays = nb::module_::import_("lowtide._arrays.numpy");
    if (a.dtype().val != Dtype::Val::bfloat16) return nb::make_tuple(arrays.attr("array"), nb::make_tuple(numpy_of(a)));
    // As float32, which represents all its values, so that ml_dtypes isn't needed.
    return nb::make_tuple(arrays.attr("array"),
                          nb::make_tuple(numpy_of(unlocked([&] { return astype(a, float32); })), "bfloat16"));
  });
  return of;
}

void bind_operators(Class& of) {
  struct Row {
    const char *name, *reflected;
    Binary f;
  };
  static constexpr Row kRows[] = {
      {"__add__", "__radd__", add},
      {"__sub__", "__rsub__", subtract},
      {"__mul__", "__rmul__", multiply},
      {"__truediv__", "__rtruediv__", divide},
      {"__floordiv__", "__rfloordiv__", floor_divide},
      {"__mod__", "__rmod__", remainder},
      {"__pow__", "__rpow__", power},
      {"__matmul__", "__rmatmul__", matmul},
      {"__and__", "__rand__", bitwise_and},
      {"__or__", "__ror__", bitwise_or},
      {"__xor__", "__rxor__", bitwise_xor},
      {"__lshift__", "__rlshift__", left_shift},
      {"__rshift__", "__rrshift__", right_shift},
      {"__eq__", nullptr, equal},
      {"__ne__", nullptr, not_equal},
      {"__lt__", nullptr, less},
      {"__le__", nullptr, less_equal},
      {"__gt__", nullptr, greater},
      {"__ge__", nullptr, greater_equal},
  };
  for (const Row& row : kRows) {
    const Binary f = row.f;
    of.def(row.name, of_arrays([f](const array& a, const array& b) { return f(a, b, kHere); }), nb::is_operator());
    if (!row.reflected) continue;
    of.def(row.reflected, of_arrays([f](const array& b, const array& a) { return f(a, b, kHere); }), nb::is_operator());
  }
  of.def("__divmod__", of_arrays([](const array& a, const array& b) { return divmod(a, b); }), nb::is_operator());
  of.def("__neg__", of_array([](const array& a) { return negative(a); }));
  of.def("__pos__", [](const array& a) { return a; });
  of.def("__abs__", of_array([](const array& a) { return abs(a); }));
  of.def("__invert__", of_array([](const array& a) { return bitwise_invert(a); }));
  of.def("__round__", of_array<int>([](const array& a, int digits) { return round(a, digits); }), "ndigits"_a = 0);
  of.def_prop_ro("T", of_array([](const array& a) { return transpose(a); }), "With its dimensions in reverse.");
  of.def_prop_ro("mT", of_array([](const array& a) { return matrix_transpose(a); }), "With its last two exchanged.");
  of.def_prop_ro("real", of_array([](const array& a) { return real(a); }), "Its real part.");
  of.def_prop_ro("imag", of_array([](const array& a) { return imag(a); }), "Its imaginary part.");
}

}  // namespace lowtide::python
