// Translates a program's operations into steps of a graph.
#include "arrays/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "arrays/evaluate.h"
#include "arrays/functions.h"
#include "arrays/support.h"
#include "lowtide/ops.h"
#include "lowtide/programs.h"

namespace lowtide {
namespace lazy {

namespace {

std::optional<Dtype> dtype_named(std::string_view name) {
  for (int t = 0; t <= static_cast<int>(Dtype::Val::complex64); ++t) {
    const Dtype dtype(static_cast<Dtype::Val>(t));
    if (hlo_type(dtype) == name) return dtype;
  }
  return std::nullopt;
}

void add_leaf_specs(const ProgramOperation& operation, const ModuleBuilder::Shape& shape, std::vector<Spec>& specs) {
  if (shape.type == "tuple") {
    for (const auto& element : shape.elements) add_leaf_specs(operation, element, specs);
  } else if (shape.type != "token") {
    const auto dtype = dtype_named(shape.type);
    if (!dtype) refuse(operation, fmt::format("has elements of type {}, which arrays lack", shape.type));
    specs.push_back({shape.dims, *dtype});
  }
}

/// Reports errors that can be found before the function is called.
void check(const Program& program) {
  for (const ProgramFunction& function : program.functions) {
    for (const ProgramOperation& operation : function.operations) {
      (void)leaf_specs(operation);
      if (operation.has_side_effect)
        refuse(operation, "does more than compute its value, which a function of arrays can't");
      if (!rule_of(operation.operation)) refuse(operation, "isn't supported in functions of arrays");
    }
  }
}

}  // namespace

void refuse(const ProgramOperation& operation, std::string_view why) {
  const std::string place = operation.place.empty() ? "" : fmt::format(" ({})", operation.place);
  throw std::runtime_error(fmt::format("function_of: {} {}{} {}", operation.operation, operation.name, place, why));
}

std::vector<Spec> leaf_specs(const ProgramOperation& operation) {
  std::vector<Spec> specs;
  add_leaf_specs(operation, operation.shape, specs);
  return specs;
}

size_t leaf_count(const ModuleBuilder::Shape& shape) {
  if (shape.type != "tuple") return shape.type == "token" ? 0 : 1;
  size_t count = 0;
  for (const auto& element : shape.elements) count += leaf_count(element);
  return count;
}

bool is_looked_through(const ProgramOperation& o) {
  return o.operation == "copy" || (o.operation == "opt-barrier" && o.operands.size() == 1) || o.operation == "domain" ||
         o.operation == "add-dependency";
}

Source source_of(const ProgramFunction& function, size_t operation, size_t leaf) {
  while (true) {
    const ProgramOperation& o = function.operations[operation];
    if (o.operation == "tuple") {
      size_t k = 0;
      for (size_t count = 0; leaf >= (count = leaf_count(function.operations[o.operands[k]].shape)); ++k) leaf -= count;
      operation = o.operands[k];
    } else if (o.operation == "get-tuple-element") {
      operation = o.operands[0];
      const auto& elements = function.operations[operation].shape.elements;
      for (int64_t e = 0; e < integer_of(o, "index", 0); ++e) leaf += leaf_count(elements[e]);
    } else if (is_looked_through(o)) {
      operation = o.operands[0];
    } else {
      return {operation, leaf};
    }
  }
}

std::vector<Leaves> evaluated(const ProgramPtr& program, size_t function, const std::vector<Leaves>& arguments,
                              std::unordered_map<size_t, Leaves> known, const std::vector<size_t>& wanted) {
  const ProgramFunction& of = program->functions[function];
  std::vector<bool> needed(of.operations.size(), false);
  for (const size_t w : wanted) needed[w] = true;
  for (size_t k = needed.size(); k-- > 0;) {
    if (!needed[k] || known.contains(k)) continue;
    for (const size_t operand : of.operations[k].operands) needed[operand] = true;
  }
  std::vector<Leaves> values(of.operations.size());
  for (size_t k = 0; k < needed.size(); ++k) {
    if (!needed[k]) continue;
    if (const auto given = known.find(k); given != known.end()) {
      values[k] = given->second;
      continue;
    }
    const ProgramOperation& operation = of.operations[k];
    if (operation.parameter >= 0) {
      values[k] = arguments.at(static_cast<size_t>(operation.parameter));
      continue;
    }
    At at{program, of, operation, {}};
    for (const size_t operand : operation.operands) at.in.push_back(values[operand]);
    const Rule rule = rule_of(operation.operation);
    if (!rule) refuse(operation, "isn't supported in functions of arrays");
    values[k] = rule(at);
  }
  std::vector<Leaves> found;
  for (const size_t w : wanted) found.push_back(values[w]);
  return found;
}

Leaves called(const ProgramPtr& program, size_t function, const std::vector<Leaves>& arguments) {
  return std::move(evaluated(program, function, arguments, {}, {program->functions[function].result}).front());
}

Leaves called_on_elements(const ProgramPtr& program, size_t function, const Leaves& arguments) {
  const auto on_scalars = [&](const std::vector<array>& scalars) {
    std::vector<Leaves> each;
    for (const array& scalar : scalars) each.push_back({scalar});
    return called(program, function, each);
  };
  const Shape shape = arguments.front().shape();
  if (shape.empty()) return on_scalars(arguments);
  const ProgramFunction& of = program->functions[function];
  if (const auto op = binary_of(of)) return {elementwise(*op, arguments, arguments[0].dtype())};
  Leaves flat;
  for (const array& a : arguments) flat.push_back(reshape_to(a, {element_count(shape)}));
  Leaves made = vmap(ManyToMany(on_scalars))(flat);
  for (array& a : made) a = reshape_to(a, shape);
  return made;
}

}  // namespace lazy

using namespace lazy;

ManyToMany function_of(const Module& given) {
  // Operations of optimised programs mix element types: the pass makes these implicit conversions explicit.
  auto spelled = Runtime::get().session().rewrite(given, std::vector<std::string>{"spell-precisions"});
  if (!spelled.ok()) throw_error(spelled.error());
  const Module& module = *spelled;
  auto functions = functions_of(module);
  if (!functions.ok()) throw_error(functions.error());
  if (const auto runs = module.can_run(); !runs.ok()) throw_error(runs.error());
  auto program = std::make_shared<Program>();
  program->functions = std::move(*functions);
  check(*program);
  const ProgramFunction& entry = program->functions.back();
  std::vector<const ProgramOperation*> parameters;
  for (const ProgramOperation& operation : entry.operations) {
    if (operation.parameter < 0) continue;
    parameters.resize(std::max(parameters.size(), static_cast<size_t>(operation.parameter) + 1));
    parameters[operation.parameter] = &operation;
  }
  std::vector<std::vector<Spec>> expected;
  size_t count = 0;
  for (const ProgramOperation* parameter : parameters) {
    expected.push_back(parameter ? leaf_specs(*parameter) : std::vector<Spec>{});
    count += expected.back().size();
  }
  return [program = ProgramPtr(program), expected = std::move(expected), count,
          name = module.name()](const std::vector<array>& args) {
    if (args.size() != count) fault(name, "found {} arguments, expected {}", args.size(), count);
    std::vector<Leaves> arguments;
    size_t next = 0;
    for (const std::vector<Spec>& specs : expected) {
      Leaves leaves;
      for (const auto& [shape, dtype] : specs) {
        const array& arg = args[next++];
        if (arg.shape() != shape || arg.dtype().val != dtype.val)
          fault(name, "found argument {} of {} and shape {}, expected {} and {}", next - 1,
                dtype_to_string(arg.dtype()), to_string(arg.shape()), dtype_to_string(dtype), to_string(shape));
        leaves.push_back(arg);
      }
      arguments.push_back(std::move(leaves));
    }
    return called(program, program->functions.size() - 1, arguments);
  };
}

ManyToMany function_of(const std::string& path) {
  auto module = Runtime::get().session().read(path);
  if (!module.ok()) throw_error(module.error());
  return function_of(*module);
}

Module to_module(const ManyToMany& fun, const std::vector<array>& args, const std::string& name) {
  Traced traced = trace(fun, specs_of(args));
  const std::lock_guard lock(Runtime::get().graphs);
  eval(traced.captured);
  return module_of(traced.function, name, traced.captured);
}

}  // namespace lowtide
