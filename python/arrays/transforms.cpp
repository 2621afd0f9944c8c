// Evaluation and transformations of functions on lists of arrays; python/lowtide/_transforms.py extends them to trees.
#include "lowtide/transforms.h"

#include <algorithm>

#include "bind.h"
#include "lowtide/control.h"
#include "lowtide/programs.h"
#include "lowtide/session.h"

namespace lowtide::python {
namespace {

using Arrays = std::vector<array>;
using Two = std::pair<Arrays, Arrays>;

/// Parses a program from the bytes that Python has read.
Module parsed(const std::string& bytes, const std::string& name) {
  static const Session kSession = Session::open().value();
  auto module = kSession.parse(bytes, name);
  if (!module.ok()) throw std::invalid_argument(module.error().message);
  return *module;
}

template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

}  // namespace

void bind_transforms(nb::module_& m) {
  const nb::call_guard<nb::gil_scoped_release> free;
  m.def("eval_all", [](const Arrays& outputs) { eval(outputs); }, "arrays"_a, free);
  m.def("async_eval_all", [](const Arrays& outputs) { async_eval(outputs); }, "arrays"_a, free);
  m.def(
      "vjp", [](const ManyToMany& f, const Arrays& x, const Arrays& c) -> Two { return vjp(f, x, c); }, "fun"_a,
      "primals"_a, "cotangents"_a, free);
  m.def(
      "jvp", [](const ManyToMany& f, const Arrays& x, const Arrays& t) -> Two { return jvp(f, x, t); }, "fun"_a,
      "primals"_a, "tangents"_a, free);
  m.def(
      "value_and_grad",
      [](const ManyToMany& f, const Arrays& x, const std::vector<int>& by) { return value_and_grad(f, by)(x); },
      "fun"_a, "arguments"_a, "argnums"_a, free);
  m.def(
      "vmap",
      [](const ManyToMany& f, const Arrays& x, const std::vector<int>& in, std::vector<int> out) {
        if (out.empty() || std::ranges::any_of(out, [](int axis) { return axis != -1; })) return vmap(f, in, out)(x);
        // vmap() needs a result with an axis: here the first argument, which like all has one, is another result.
        const auto with_argument = [&](const Arrays& arguments) {
          Arrays results = f(arguments);
          results.push_back(arguments.at(0));
          return results;
        };
        out.push_back(0);
        Arrays results = vmap(with_argument, in, out)(x);
        results.pop_back();
        return results;
      },
      "fun"_a, "arguments"_a, "in_axes"_a, "out_axes"_a, free);
  nb::class_<Module>(m, "Program", "A program, which compilers read.")
      .def_prop_ro("name", &Module::name)
      .def("hlo", &Module::hlo, "HLO text.")
      .def(
          "stablehlo", [](const Module& program) { return value_of(program.stablehlo()); }, "StableHLO text.")
      .def(
          "bytecode",
          [](const Module& program) {
            const std::string bytes = value_of(program.bytecode());
            return nb::bytes(bytes.data(), bytes.size());
          },
          "A portable StableHLO artifact.");
  m.def("program_at", [](const std::string& path) { return function_of(path); }, "path"_a, free);
  m.def(
      "program_in",
      [](const nb::bytes& bytes, const std::string& name) {
        return function_of(parsed(std::string(bytes.c_str(), bytes.size()), name));
      },
      "bytes"_a, "name"_a);
  m.def("program_of", [](const Module& program) { return function_of(program); }, "program"_a);
  m.def("to_program", &to_module, "fun"_a, "arguments"_a, "name"_a, free);
  m.def("compile", [](const ManyToMany& f) { return compile(f); }, "fun"_a);
  m.def("disable_compile", &disable_compile, "compile() traces functions at each call from now on.");
  m.def("enable_compile", &enable_compile, "It traces them once, as it does unless disabled.");
  m.def(
      "checkpoint", [](const ManyToMany& f, const Arrays& x) { return checkpoint(f)(x); }, "fun"_a, "arguments"_a,
      free);
  m.def(
      "custom_vjp",
      [](const ManyToMany& f, const std::function<Arrays(const Arrays&, const Arrays&, const Arrays&)>& backwards,
         const Arrays& x) { return custom_vjp(f, backwards)(x); },
      "fun"_a, "fun_vjp"_a, "arguments"_a, free);
  m.def(
      "custom_function",
      [](const ManyToMany& f, const std::optional<CustomVjp>& vjp, const std::optional<CustomJvp>& jvp,
         const std::optional<CustomVmap>& vmap, const Arrays& x) { return custom_function(f, vjp, jvp, vmap)(x); },
      "fun"_a, "fun_vjp"_a.none(), "fun_jvp"_a.none(), "fun_vmap"_a.none(), "arguments"_a, free);
  m.def(
      "while_loop",
      [](const ManyToOne& c, const ManyToMany& body, const Arrays& init) { return while_loop(c, body, init); },
      "cond"_a, "body"_a, "init"_a, free);
  m.def(
      "scan",
      [](const ScanBody& f, const Arrays& init, const Arrays& xs, int64_t length, bool reverse) -> Two {
        return scan(f, init, xs, length, reverse);
      },
      "f"_a, "init"_a, "xs"_a, "length"_a, "reverse"_a, free);
  m.def(
      "cond",
      [](const array& pred, const ManyToMany& yes, const ManyToMany& no, const Arrays& x) {
        return cond(pred, yes, no, x);
      },
      "pred"_a, "on_true"_a, "on_false"_a, "operands"_a, free);
}

}  // namespace lowtide::python
