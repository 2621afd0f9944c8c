#include "ops/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lowtide::engine {

Status broken(const Instruction& instruction, int constraint, const std::string& sentence) {
  return broken(instruction, fmt::format("C{}", constraint), sentence);
}

Status check_dims(const Instruction& instruction, const Dims& dims, int64_t rank, std::string_view what,
                  int constraint) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= rank) {
      return broken(instruction, constraint,
                    fmt::format("{} names dimension {} of a rank-{} array", what, dims[i], rank));
    }
    if (std::find(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(i), dims[i]) !=
        dims.begin() + static_cast<std::ptrdiff_t>(i)) {
      return broken(instruction, constraint, fmt::format("{} names dimension {} twice", what, dims[i]));
    }
  }
  return {};
}

Result<Signature> signature_of(const Instruction& instruction, size_t which, int constraint) {
  if (which >= instruction.called.size()) {
    return broken(instruction, constraint,
                  fmt::format("calls {} computations, {} are needed", instruction.called.size(), which + 1));
  }
  const Computation& callee = *instruction.called[which];
  if (!callee.root) return broken(instruction, constraint, fmt::format("{} has no root", callee.name));
  Signature signature;
  signature.result = &callee.root->shape;
  for (const Instruction* parameter : callee.parameters()) {
    if (!parameter) return broken(instruction, constraint, fmt::format("{} skips a parameter number", callee.name));
    signature.parameters.push_back(&parameter->shape);
  }
  return signature;
}

Status check_parameters(const Instruction& instruction, const Signature& signature,
                        const std::vector<const Shape*>& expected, int constraint) {
  if (signature.parameters.size() != expected.size()) {
    return broken(instruction, constraint,
                  fmt::format("gives {} arguments to a computation of {} parameters", expected.size(),
                              signature.parameters.size()));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (same_shape(*expected[i], *signature.parameters[i])) continue;
    return broken(instruction, constraint,
                  fmt::format("gives {} to parameter {} of shape {}", to_string_without_layout(*expected[i]), i,
                              to_string_without_layout(*signature.parameters[i])));
  }
  return {};
}

Status check_arrays(const Instruction& instruction, int constraint) {
  for (const Instruction* operand : instruction.operands) {
    if (operand->shape.is_array()) continue;
    return broken(instruction, constraint,
                  fmt::format("needs arrays, got {}", to_string_without_layout(operand->shape)));
  }
  return {};
}

bool has_unbounded(const Instruction& instruction) {
  const auto open = [](const Shape& shape) {
    bool found = false;
    for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
      found = found || std::find(leaf.dims.begin(), leaf.dims.end(), kUnboundedDim) != leaf.dims.end();
    });
    return found;
  };
  return open(instruction.shape) || std::any_of(instruction.operands.begin(), instruction.operands.end(),
                                                [&](const Instruction* operand) { return open(operand->shape); });
}

Shape one_or_tuple(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? std::move(shapes[0]) : Shape::tuple(std::move(shapes));
}

Shape bare(const Shape& array) { return Shape::array(array.type, array.dims); }

}  // namespace lowtide::engine
