/// get-dimension-size: the number of elements of a dimension that are in use.
///   operand T[s], dimensions={d} -> s32[]
///   (C1) the operand is an array  (C2) dimensions is exactly one dimension of it
///
/// set-dimension-size: sets that number; the extent stays as the bound.
///   operand T[s], size s32[], dimensions={d} -> T[.., <=s[d], ..]
///   (C1) an array and a scalar integer  (C2) as above

#include <fmt/format.h>

#include "ops/dimensions.h"
#include "ops/elementwise.h"
#include "ops/runnable.h"

namespace lowtide::engine {
namespace {

constexpr const char* kBelowBound = "set-dimension-size below the bound: values of the interpreter have fixed sizes";

Result<size_t> the_dimension(const Instruction& instruction) {
  const Shape& operand = instruction.operand(0).shape;
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  if (dimensions.size() != 1 || !are_distinct_dims(dimensions, operand.rank())) {
    return broken(instruction, "C2",
                  fmt::format("dimensions {} must be exactly one dimension of {}", to_string(dimensions),
                              to_string_without_layout(operand)));
  }
  return static_cast<size_t>(dimensions[0]);
}

Result<Shape> infer_get(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  LT_RETURN_IF_ERROR(the_dimension(instruction).status());
  return Shape::scalar(ElementType::kS32);
}

Result<Shape> infer_set(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 2, kAnything));
  const Shape& size = instruction.operand(1).shape;
  if (size.rank() != 0 || !(kind_of(size.type) & kIntegers)) {
    return broken(instruction, "C1",
                  fmt::format("the size must be a scalar integer, got {}", to_string_without_layout(size)));
  }
  LT_ASSIGN_OR_RETURN(const size_t dimension, the_dimension(instruction));
  const Shape& operand = instruction.operand(0).shape;
  Shape result = with_type(operand, operand.type);
  result.dynamic.resize(result.dims.size());
  // A constant size may make the dimension static again: the declared shape tells.
  const auto& declared = instruction.shape.dynamic;
  result.dynamic[dimension] = dimension < declared.size() && declared[dimension];
  return result;
}

Result<Value> eval_get(const Instruction& instruction, Operands operands, EvalContext&) {
  const auto dimension = static_cast<size_t>(instruction.as<DimensionsAttributes>().dimensions[0]);
  const auto result = std::make_shared<Literal>(Shape::scalar(ElementType::kS32));
  result->data<int32_t>()[0] = static_cast<int32_t>(operands[0]->shape().dims[dimension]);
  return Value(result);
}

Result<Value> eval_set(const Instruction& instruction, Operands operands, EvalContext&) {
  const auto dimension = static_cast<size_t>(instruction.as<DimensionsAttributes>().dimensions[0]);
  if (integer_at(*operands[1], 0) != operands[0]->shape().dims[dimension]) {
    return Status::unsupported(kBelowBound);
  }
  return operands[0];
}

}  // namespace

std::string why_set_dimension_size_not_run(const Instruction& instruction) {
  const Instruction& size = instruction.operand(1);
  const auto* constant = size.if_as<ConstantAttributes>();
  if (constant == nullptr || !constant->value || !constant->value->known()) return "";
  const auto dimension = static_cast<size_t>(instruction.as<DimensionsAttributes>().dimensions[0]);
  return integer_at(*constant->value, 0) == instruction.operand(0).shape.dims[dimension] ? "" : kBelowBound;
}

const OpRule kGetDimensionSizeRule{.read = read_dimensions,
                                   .print = print_dimensions,
                                   .infer = infer_get,
                                   .eval = eval_get,
                                   .slicing = kNotSliced,
                                   .extents = unknown_extents,
                                   .reads = reads_anywhere,
                                   .arithmetic = kOneOperation};
const OpRule kSetDimensionSizeRule{.read = read_dimensions,
                                   .print = print_dimensions,
                                   .infer = infer_set,
                                   .eval = eval_set,
                                   .slicing = kNotSliced,
                                   .extents = unknown_extents,
                                   .reads = reads_anywhere,
                                   .arithmetic = kOneOperation};

}  // namespace lowtide::engine
