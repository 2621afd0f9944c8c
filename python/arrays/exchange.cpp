// Exporting elements: as numbers, NumPy arrays, DLPack.
#include "convert.h"
#include "lowtide/dlpack.h"
#include "lowtide/ops.h"

namespace lowtide::python {
namespace {

constexpr const char* kOld = "dltensor";
constexpr const char* kNew = "dltensor_versioned";

/// A capsule that deletes its tensor, unless a consumer has taken it, which renames the capsule.
template <class Tensor>
nb::object capsule(Tensor* tensor, const char* name) {
  PyObject* const made = PyCapsule_New(tensor, name, [](PyObject* self) {
    const char* const still = std::is_same_v<Tensor, dlpack::ManagedTensor> ? kOld : kNew;
    if (!PyCapsule_IsValid(self, still)) return;
    auto* const left = static_cast<Tensor*>(PyCapsule_GetPointer(self, still));
    left->deleter(left);
  });
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

template <class Tensor>
array taken(nb::handle capsule, const char* name, const char* used) {
  auto* const tensor = static_cast<Tensor*>(PyCapsule_GetPointer(capsule.ptr(), name));
  array made = unlocked([&] { return from_dlpack(tensor); });
  PyCapsule_SetName(capsule.ptr(), used);
  return made;
}

}  // namespace

const void* elements_of(const array& a) {
  return unlocked([&]() -> const void* {
    switch (a.itemsize()) {
      case 1: return a.data<uint8_t>();
      case 2: return a.data<uint16_t>();
      case 4: return a.data<uint32_t>();
      default: return a.data<uint64_t>();
    }
  });
}

nb::object item_of(const array& a) {
  if (a.dtype().val == Dtype::Val::bool_) return nb::cast(unlocked([&] { return a.item<bool>(); }));
  if (issubdtype(a.dtype(), unsignedinteger)) return nb::cast(unlocked([&] { return a.item<uint64_t>(); }));
  if (issubdtype(a.dtype(), signedinteger)) return nb::cast(unlocked([&] { return a.item<int64_t>(); }));
  if (issubdtype(a.dtype(), floating)) return nb::cast(unlocked([&] { return a.item<double>(); }));
  return nb::cast(std::complex<double>(unlocked([&] { return a.item<complex64_t>(); })));
}

nb::object numpy_of(const array& a) {
  nb::module_ numpy = nb::module_::import_("numpy");
  const bool is_bfloat16 = a.dtype().val == Dtype::Val::bfloat16;
  nb::object type;
  if (is_bfloat16) {
    try {
      type = nb::module_::import_("ml_dtypes").attr("bfloat16");
    } catch (nb::python_error&) {  // ml_dtypes isn't installed
      return numpy_of(unlocked([&] { return astype(a, float32); }));
    }
  }
  const void* const data = elements_of(a);
  nb::dict interface;
  interface["version"] = 3;
  interface["shape"] = nb::tuple(nb::cast(a.shape()));
  interface["typestr"] =
      is_bfloat16 ? nb::object(nb::str("<u2")) : numpy.attr("dtype")(dtype_to_string(a.dtype())).attr("str");
  interface["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(data), true);  // read-only
  // NumPy keeps the object with the interface alive, and thus the array.
  nb::object owner =
      nb::module_::import_("types").attr("SimpleNamespace")("__array_interface__"_a = interface, "owner"_a = a);
  nb::object made = numpy.attr("asarray")(owner);
  return is_bfloat16 ? made.attr("view")(type) : made;
}

nb::object dlpack_of(const array& a, bool versioned) {
  if (versioned) return capsule(unlocked([&] { return to_dlpack_versioned(a); }), kNew);
  return capsule(unlocked([&] { return to_dlpack(a); }), kOld);
}

array from_dlpack_of(nb::handle object) {
  if (nb::isinstance<array>(object)) return *nb::inst_ptr<array>(object);
  nb::object given = nb::borrow(object);
  if (!PyCapsule_CheckExact(object.ptr())) {
    try {
      given = object.attr("__dlpack__")("max_version"_a = nb::make_tuple(1, 0));
    } catch (nb::python_error& error) {  // the producer is older than versioned capsules
      if (!error.matches(PyExc_TypeError)) throw;
      given = object.attr("__dlpack__")();
    }
  }
  if (PyCapsule_IsValid(given.ptr(), kNew))
    return taken<dlpack::VersionedTensor>(given, kNew, "used_dltensor_versioned");
  if (PyCapsule_IsValid(given.ptr(), kOld)) return taken<dlpack::ManagedTensor>(given, kOld, "used_dltensor");
  throw nb::type_error("from_dlpack: expected an object with __dlpack__, or a capsule that nobody took");
}

}  // namespace lowtide::python
