// Types of elements.
#include "bind.h"

namespace lowtide::python {

void bind_types(nb::module_& m) {
  nb::class_<Dtype>(m, "Dtype", "The type of an array's elements. Equal to whatever names the same type.")
      .def_prop_ro(
          "name", [](Dtype type) { return dtype_to_string(type); }, "As NumPy and ml_dtypes name it.")
      .def_prop_ro(
          "itemsize", [](Dtype type) { return int{type.size()}; }, "Bytes of one element.")
      .def_prop_ro(
          "dtype",
          [](Dtype type) {
            const char* const home = type.val == Dtype::Val::bfloat16 ? "ml_dtypes" : "numpy";
            nb::object like = nb::module_::import_(home).attr(
                type.val == Dtype::Val::bool_ ? "bool_" : dtype_to_string(type).c_str());
            return nb::module_::import_("numpy").attr("dtype")(like);
          },
          "NumPy's, by which numpy.dtype() takes this one.")
      .def(
          "__call__",
          [](Dtype type, const ArrayLike& value) {
            return made_of(value, nb::borrow<DtypeLike>(nb::cast(type)), true);
          },
          "value"_a, nb::is_operator(), "An array of this type.")
      .def(
          "__eq__",
          [](Dtype type, nb::object other) {
            try {
              return type.val == dtype_of(other).val;
            } catch (const std::exception&) {  // not a type, so none of these
              return false;
            }
          },
          nb::arg("other").none())
      .def("__hash__", [](Dtype type) { return static_cast<int>(type.val); })
      .def("__repr__", [](Dtype type) { return dtype_to_string(type); })
      .def("__reduce__", [](Dtype type) {
        return nb::make_tuple(nb::module_::import_("lowtide._arrays.numpy").attr("as_dtype"),
                              nb::make_tuple(dtype_to_string(type)));
      });
  for (int v = 0; v <= static_cast<int>(Dtype::Val::complex64); ++v) {
    const Dtype type(static_cast<Dtype::Val>(v));
    m.attr(type.val == Dtype::Val::bool_ ? "bool_" : dtype_to_string(type).c_str()) = nb::cast(type);
  }
  m.def("as_dtype", [](const DtypeLike& like) { return dtype_of(like); }, "like"_a, "The type that something names.");
  m.def(
      "promote_types", [](const DtypeLike& a, const DtypeLike& b) { return promote_types(dtype_of(a), dtype_of(b)); },
      "a"_a, "b"_a, "The type in which values of both are kept.");
  constexpr std::pair<const char*, Dtype::Category> kCategories[] = {{"complexfloating", complexfloating},
                                                                     {"floating", floating},
                                                                     {"inexact", inexact},
                                                                     {"signedinteger", signedinteger},
                                                                     {"unsignedinteger", unsignedinteger},
                                                                     {"integer", integer},
                                                                     {"number", number},
                                                                     {"generic", generic}};
  nb::enum_<Dtype::Category> category(m, "Category", "A set of types, for issubdtype().");
  for (const auto& [name, value] : kCategories) category.value(name, value);
  category.export_values();
  m.def(
      "issubdtype", [](const DtypeLike& type, Dtype::Category of) { return issubdtype(dtype_of(type), of); }, "dtype"_a,
      "category"_a, "Is a type of such a set? issubdtype(float16, floating)");
}

}  // namespace lowtide::python
