// lowtide._arrays: the arrays of docs/arrays.md in Python. python/lowtide/_transforms.py adds functions of functions
// and of trees of arrays; python/lowtide/numpy.py and similar modules arrange the names.
#include "bind.h"
#include "lowtide/memory.h"

namespace lowtide::python {
namespace {

/// Python's LimitError, the counterpart of limit_error. Python keeps it until it exits.
PyObject* limit_error_type = nullptr;

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const limit_error& error) {
    nb::object made = nb::borrow(limit_error_type)(error.what());
    made.attr("needed") = error.needed();
    made.attr("limit") = error.limit();
    PyErr_SetObject(limit_error_type, made.ptr());
  }
}

}  // namespace

NB_MODULE(_arrays, m) {
  m.doc() = "Arrays that are computed when they are needed: docs/arrays.md.";
  nb::set_leak_warnings(false);  // objects in plans and steps live as long as the process
  limit_error_type = PyErr_NewExceptionWithDoc(
      "lowtide.LimitError",
      "A plan needs more than a limit, or memory ended. Arrays are as they were before. `needed`: bytes of the lowest "
      "plan found, live arrays included, 0 where that isn't known; `limit`: bytes allowed.",
      PyExc_RuntimeError, nullptr);
  if (!limit_error_type) throw nb::python_error();
  m.attr("LimitError") = nb::borrow(limit_error_type);
  nb::register_exception_translator(translate);

  nb::module_ numpy = m.def_submodule("numpy", "Arrays, and what NumPy has of functions on them.");
  bind_types(numpy);
  Class of = bind_array(numpy);
  bind_operators(of);
  bind_indexing(numpy, of);
  bind_making(numpy);
  bind_elementwise(numpy, of);
  bind_reductions(numpy, of);
  bind_shapes(numpy, of);
  bind_joins(numpy, of);
  bind_parts(numpy, of);
  bind_products(numpy);
  nb::module_ linalg = m.def_submodule("linalg", "Linear algebra on matrices in the last two dimensions.");
  bind_linalg(linalg);
  nb::module_ fft = m.def_submodule("fft", "Discrete Fourier transforms.");
  bind_fft(fft);
  nb::module_ fast = m.def_submodule("fast", "What models are made of.");
  bind_fast(fast);
  nb::module_ random = m.def_submodule("random", "Random numbers from keys.");
  bind_random(random);
  bind_transforms(m);
  bind_memory(m);
  bind_streams(m);
  bind_files(m);
  // Makes `from lowtide._arrays.numpy import ...` work: the module is a file, not a folder.
  nb::object modules = nb::module_::import_("sys").attr("modules");
  for (const nb::module_& part : {numpy, linalg, fft, fast, random}) modules[part.attr("__name__")] = part;
}

}  // namespace lowtide::python
