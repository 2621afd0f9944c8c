#include "ops/reducer_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise.h"

namespace lowtide::engine {

Result<size_t> check_folded_inputs(const Instruction& instruction, int scalars, int extents) {
  const size_t operands = instruction.operands.size();
  LT_RETURN_IF_ERROR(check_arrays(instruction, scalars));
  if (operands == 0 || operands % 2 != 0) {
    return broken(instruction, scalars,
                  fmt::format("needs as many initial values as inputs, got {} operands", operands));
  }
  const size_t inputs = operands / 2;
  for (size_t k = 0; k < inputs; ++k) {
    const Shape& initial = instruction.operand(inputs + k).shape;
    if (initial.rank() != 0) {
      return broken(instruction, scalars,
                    fmt::format("initial value {} is {}, not a scalar", k, to_string_without_layout(initial)));
    }
    if (instruction.operand(k).shape.dims != instruction.operand(0).shape.dims) {
      return broken(instruction, extents,
                    fmt::format("input {} is {}, input 0 {}", k, to_string_without_layout(instruction.operand(k).shape),
                                to_string_without_layout(instruction.operand(0).shape)));
    }
  }
  return inputs;
}

Result<std::vector<ElementType>> check_reducer(const Instruction& instruction, size_t which, size_t inputs,
                                               int constraint) {
  LT_ASSIGN_OR_RETURN(const Signature callee, signature_of(instruction, which, constraint));
  if (callee.parameters.size() != 2 * inputs) {
    return broken(
        instruction, constraint,
        fmt::format("the computation takes {} parameters, {} are given", callee.parameters.size(), 2 * inputs));
  }
  for (const Shape* parameter : callee.parameters) {
    if (!parameter->is_array() || parameter->rank() != 0) {
      return broken(instruction, constraint,
                    fmt::format("the computation takes {}, not a scalar", to_string_without_layout(*parameter)));
    }
  }
  std::vector<const Shape*> results;
  if (callee.result->is_tuple()) {
    for (const Shape& element : callee.result->elements) results.push_back(&element);
  } else {
    results.push_back(callee.result);
  }
  bool fits = results.size() == inputs;
  for (size_t k = 0; fits && k < inputs; ++k) fits = same_shape(*results[k], *callee.parameters[k]);
  if (!fits) {
    return broken(instruction, constraint,
                  fmt::format("the computation gives {}, not what its first {} parameters take",
                              to_string_without_layout(*callee.result), inputs));
  }
  for (size_t k = 0; k < 2 * inputs && instruction.operands.size() == 2 * inputs; ++k) {
    // Operands are inputs, then initial values; parameters are accumulators, then elements. Precision may differ.
    const ElementType given = instruction.operand(k).shape.type;
    const ElementType taken = callee.parameters[(k + inputs) % (2 * inputs)]->type;
    if (given == taken || (is_floating(given) && is_floating(taken))) continue;
    return broken(instruction, constraint,
                  fmt::format("the computation takes {} for {}", type_name(taken), type_name(given)));
  }
  std::vector<ElementType> types;
  for (const Shape* result : results) types.push_back(result->type);
  return types;
}

Shape as_declared(Shape folded, const Shape& declared) {
  if (folded.is_array() && declared.is_array() && same_or_mixed_precision(folded.type, declared.type)) {
    folded.type = declared.type;
  }
  const size_t parts = std::min(folded.elements.size(), declared.elements.size());
  for (size_t k = 0; k < parts; ++k) folded.elements[k] = as_declared(folded.elements[k], declared.elements[k]);
  return folded;
}

Result<Value> rounded_as(const Value& folded, const Shape& declared) {
  if (!declared.is_tuple()) return convert_elements(folded, declared.type);
  std::vector<Value> parts;
  for (size_t k = 0; k < declared.elements.size(); ++k) {
    LT_ASSIGN_OR_RETURN(Value part, rounded_as(folded->parts()[k], declared.elements[k]));
    parts.push_back(std::move(part));
  }
  return Value(std::make_shared<Literal>(std::move(parts)));
}

}  // namespace lowtide::engine
