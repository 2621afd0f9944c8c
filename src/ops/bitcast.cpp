/// bitcast: the same bytes under another shape; element k of the operand in the order of its layout becomes element k
/// of the result in the order of its own.
///   operand T[s]{layout} -> U[r]{layout}, declared
///   (C1) operand and result are arrays  (C2) they have equally many logical bits
///
/// bitcast-convert: the bits of each element, read as another type.
///   operand T[s] -> U[s]               where T and U have equally many bits
///                -> U[s, bits(T)/bits(U)]  where U is narrower
///   operand T[s, bits(U)/bits(T)] -> U[s]  where U is wider
///   (C1) operand and result are arrays  (C2) the extents are those above

#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise.h"

namespace lowtide {
namespace {

Result<Shape> infer_bitcast(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  LT_RETURN_IF_ERROR(check_declared(instruction, "C1", kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Shape& result = instruction.shape;
  LT_RETURN_IF_ERROR(checked(instruction, operand).status());
  // Widths are powers of two: both counts in units of the narrower type.
  const int64_t unit = std::min(type_bits(operand.type), type_bits(result.type));
  int64_t from = 0, to = 0;
  const bool countable = !__builtin_mul_overflow(element_count(operand), type_bits(operand.type) / unit, &from) &&
                         !__builtin_mul_overflow(element_count(result), type_bits(result.type) / unit, &to);
  const bool unbounded = contains(operand.dims, kUnboundedDim) || contains(result.dims, kUnboundedDim);
  if (!unbounded && (!countable || from != to)) {
    return broken(instruction, "C2",
                  fmt::format("{} and {} do not have equally many bits", to_string_without_layout(operand),
                              to_string_without_layout(result)));
  }
  return result;
}

Result<Shape> infer_convert(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  LT_RETURN_IF_ERROR(check_declared(instruction, "C1", kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const int64_t from = type_bits(operand.type);
  const int64_t to = type_bits(instruction.shape.type);
  Shape result = with_type(operand, instruction.shape.type);
  if (from > to && from % to == 0) {
    result.dims.push_back(from / to);
    if (!result.dynamic.empty()) result.dynamic.push_back(false);
  } else if (from < to && to % from == 0 && !result.dims.empty() && agree(result.dims.back(), to / from)) {
    result.dims.pop_back();
    if (!result.dynamic.empty()) result.dynamic.pop_back();
  } else if (from != to) {
    return broken(instruction, "C2",
                  fmt::format("{} elements of {} bits cannot be read as {} of {} bits",
                              to_string_without_layout(operand), from, type_name(result.type), to));
  }
  if (!same_extents(result, instruction.shape)) {
    return broken(instruction, "C2",
                  fmt::format("{} read as {} has shape {}, but {} is declared", to_string_without_layout(operand),
                              type_name(result.type), to_string_without_layout(result),
                              to_string_without_layout(instruction.shape)));
  }
  return result;
}

}  // namespace

const OpRule kBitcastRule{.infer = infer_bitcast};
const OpRule kBitcastConvertRule{.infer = infer_convert};

}  // namespace lowtide
