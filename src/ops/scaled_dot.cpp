// scaled-dot: a dot of two arrays of small floats with scale factors for blocks of elements (OCP Microscaling Formats
//   (MX) specification 1.0, section 5.2).
//   lhs, rhs, lhs_scale, rhs_scale: a scale has the rank of its array, and each of its extents divides the array's; or
//   it is one number for all. R is as declared: the dot of the elements times the scales of their blocks, computed in
//   f64 if R is f64, else in f32, and rounded to R at the end.
//   (C1) four operands; they and the result are arrays of floats
//   (C2) dimension lists are in range, none names a dimension twice
//   (C3) both sides have equally many batch dimensions, of equal extents
//   (C4) both sides have equally many contracting dimensions, of equal extents
//   (C5) a scale is a scalar, or has the array's rank and extents that divide the array's
#include <algorithm>

#include "ops/contract.h"
#include "ops/dot_checks.h"
#include "ops/index_space.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Result<Shape> infer_scaled_dot(const Instruction& dot) {
  LT_RETURN_IF_ERROR(check_arrays(dot, 1));  // (C1)
  if (dot.operands.size() != 4) return broken(dot, 1, "needs two operands and their scales");
  const auto is_float = [](const Instruction* operand) { return is_floating(operand->shape.type); };
  if (!dot.shape.is_array() || !is_floating(dot.shape.type) || !std::ranges::all_of(dot.operands, is_float)) {
    return broken(dot, 1, "takes floats to make floats");
  }
  const Shape &lhs = dot.operand(0).shape, &rhs = dot.operand(1).shape;
  LT_RETURN_IF_ERROR(check_dot_dims(dot, lhs, rhs));  // (C2)
  const auto& attributes = dot.as<DotAttributes>();
  LT_RETURN_IF_ERROR(
      check_paired_extents(dot, lhs, rhs, attributes.lhs_batch_dims, attributes.rhs_batch_dims, "batch", 3));  // (C3)
  LT_RETURN_IF_ERROR(check_paired_extents(dot, lhs, rhs, attributes.lhs_contracting_dims,
                                          attributes.rhs_contracting_dims, "contracting", 4));  // (C4)
  for (size_t k = 0; k < 2; ++k) {
    const Dims &array = dot.operand(k).shape.dims, &scale = dot.operand(k + 2).shape.dims;
    bool fits = scale.empty() || scale.size() == array.size();
    for (size_t d = 0; fits && d < scale.size(); ++d) fits = scale[d] > 0 && array[d] % scale[d] == 0;
    if (!fits) {  // (C5)
      return broken(dot, 5,
                    to_string_without_layout(dot.operand(k + 2).shape) + " can't scale blocks of " +
                        to_string_without_layout(dot.operand(k).shape));
    }
  }
  return Shape::array(dot.shape.type, dot_result_dims(attributes, lhs, rhs));
}

/// The elements of `array` times the scales of their blocks, as numbers of type T.
template <class T>
Result<Value> scaled(const Value& array, const Value& scale, ElementType type) {
  LT_ASSIGN_OR_RETURN(const Value wide, convert_elements(array, type));
  LT_ASSIGN_OR_RETURN(const Value scales, convert_elements(scale, type));
  auto result = std::make_shared<Literal>(*wide);
  const Dims &extents = array->shape().dims, &blocks = scale->shape().dims;
  const Dims strides = row_major_strides(blocks);
  const std::span<T> numbers = result->template data<T>();
  Dims index(extents.size(), 0);
  for (T& number : numbers) {
    int64_t block = 0;
    for (size_t d = 0; d < blocks.size(); ++d) block += index[d] / (extents[d] / blocks[d]) * strides[d];
    number *= scales->template data<T>()[block];
    advance(index, extents);
  }
  return Value(result);
}

template <class T>
Result<Value> eval_in(const Instruction& dot, Operands operands, ElementType type) {
  LT_ASSIGN_OR_RETURN(const Value lhs, scaled<T>(operands[0], operands[2], type));
  LT_ASSIGN_OR_RETURN(const Value rhs, scaled<T>(operands[1], operands[3], type));
  auto result = std::make_shared<Literal>(Shape::array(type, dot.shape.dims));
  contract(*lhs, *rhs, dot.as<DotAttributes>(), *result);
  return convert_elements(result, dot.shape.type);
}

Result<Value> eval_scaled_dot(const Instruction& dot, Operands operands, EvalContext&) {
  return dot.shape.type == ElementType::kF64 ? eval_in<double>(dot, operands, ElementType::kF64)
                                             : eval_in<float>(dot, operands, ElementType::kF32);
}

}  // namespace

const OpRule kScaledDotRule{.read = read_dot,
                            .print = print_dot,
                            .infer = infer_scaled_dot,
                            .eval = eval_scaled_dot,
                            .slicing = kNotSliced,
                            .extents = unknown_extents,
                            .reads = reads_anywhere,
                            .arithmetic = kOneRounding};

}  // namespace lowtide::engine
