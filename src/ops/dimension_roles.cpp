#include "ops/dimension_roles.h"

#include <algorithm>
#include <numeric>

#include "ops/op_rule.h"
#include "ops/window.h"

namespace lowtide::engine {
namespace {

const Shape& first_array(const Shape& shape) {
  return shape.is_tuple() && !shape.elements.empty() ? first_array(shape.elements[0]) : shape;
}

}  // namespace

const Shape* common_extents(const Instruction& i) {
  if (i.shape.is_array()) return &i.shape;
  if (!i.shape.is_tuple() || i.shape.elements.empty()) return nullptr;
  const Shape& first = i.shape.elements[0];
  const bool alike = std::ranges::all_of(
      i.shape.elements, [&](const Shape& s) { return s.is_array() && s.dynamic.empty() && s.dims == first.dims; });
  return alike ? &first : nullptr;
}

std::vector<OperandDimension> operand_roles(const Instruction& instruction, size_t operand) {
  if (!instruction.operand(operand).shape.is_array()) return {};
  return rule_of(instruction.opcode).slicing.roles(instruction, operand);
}

OperandDimension pointwise(int64_t result_dimension, int64_t stride, int64_t offset) {
  return {.role = DimensionRole::kPointwise, .result_dimension = result_dimension, .stride = stride, .offset = offset};
}

OperandDimension blocked(int64_t result_dimension, int64_t block, int64_t result_block) {
  return {.role = DimensionRole::kBlocked,
          .result_dimension = result_dimension,
          .block = block,
          .result_block = result_block};
}

OperandDimension reduced(int64_t fold) { return {.role = DimensionRole::kReduced, .fold = fold}; }

OperandDimension under_window(const Window& window, size_t w, int64_t result_dimension) {
  if (window.lhs_dilate[w] != 1) return {};
  OperandDimension under = pointwise(result_dimension, window.stride[w], -window.pad_low[w]);
  under.reach = dilated(window.size[w], window.rhs_dilate[w]) - 1;
  if (under.reach != 0) under.role = DimensionRole::kWindowed;
  return under;
}

std::vector<OperandDimension> opaque_dimensions(const Instruction& instruction, size_t operand) {
  return std::vector<OperandDimension>(instruction.operand(operand).shape.dims.size());
}

std::vector<OperandDimension> same_dimensions(const Instruction& instruction, size_t operand) {
  const Dims& dims = instruction.operand(operand).shape.dims;
  const Dims& result = first_array(instruction.shape).dims;
  std::vector<OperandDimension> roles(dims.size());
  if (dims.size() != result.size()) return roles;
  for (size_t d = 0; d < roles.size(); ++d) {
    if (dims[d] == result[d]) roles[d] = pointwise(static_cast<int64_t>(d));
  }
  return roles;
}

std::vector<OperandDimension> regrouped_dimensions(const Instruction& instruction, size_t operand) {
  const Dims& dims = instruction.operand(operand).shape.dims;
  const Dims& result = first_array(instruction.shape).dims;
  std::vector<OperandDimension> roles(dims.size());
  int64_t before = 1, result_before = 1;
  size_t r = 0;
  for (size_t d = 0; d < roles.size(); ++d) {
    if (dims[d] != 1) {
      while (r < result.size() && (result_before < before || result[r] == 1)) result_before *= result[r++];
      if (r < result.size() && result_before == before) {
        const int64_t blocks = std::gcd(dims[d], result[r]);
        const auto same = static_cast<int64_t>(r);
        if (result[r] == dims[d]) {
          roles[d] = pointwise(same);
        } else if (blocks > 1) {
          roles[d] = blocked(same, dims[d] / blocks, result[r] / blocks);
        }
      }
    }
    before *= dims[d];
  }
  return roles;
}

std::vector<OperandDimension> batch_dimensions(const Instruction& instruction, size_t operand, size_t inner) {
  std::vector<OperandDimension> roles = same_dimensions(instruction, operand);
  for (size_t d = roles.size() - std::min(inner, roles.size()); d < roles.size(); ++d) roles[d] = {};
  return roles;
}

}  // namespace lowtide::engine
