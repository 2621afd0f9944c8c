// topk: the k largest (or smallest) elements along the last dimension, and where they stood.
//   operand T[.., n] -> (T[.., k], s32[.., k]), in order; equal elements by index, NaN above all numbers.
//   (C1) the operand is an array of rank >= 1
//   (C2) 0 <= k <= n
#include <fmt/format.h>

#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

Status read_topk(AttributeReader& reader, Instruction& topk) {
  TopKAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.k, reader.take_integer("k"));
  LT_ASSIGN_OR_RETURN(attributes.largest, reader.take_bool_or("largest", true));
  topk.attributes = attributes;
  return {};
}

void print_topk(const Instruction& topk, AttributeWriter& writer) {
  writer.integer("k", topk.as<TopKAttributes>().k);
  writer.boolean("largest", topk.as<TopKAttributes>().largest);
}

Result<Shape> infer_topk(const Instruction& topk) {
  const Shape& operand = topk.operand(0).shape;
  if (!operand.is_array() || operand.rank() == 0) {  // (C1)
    return broken(topk, 1, "needs an array of rank 1 or more, got " + to_string_without_layout(operand));
  }
  const int64_t k = topk.as<TopKAttributes>().k;
  if (k < 0 || (k > operand.dims.back() && operand.dims.back() != kUnboundedDim)) {  // (C2)
    return broken(topk, 2, fmt::format("can't take {} of {} elements", k, operand.dims.back()));
  }
  Dims dims = operand.dims;
  dims.back() = k;
  return Shape::tuple({Shape::array(operand.type, dims), Shape::array(ElementType::kS32, dims)});
}

}  // namespace

const OpRule kTopKRule{read_topk, print_topk, infer_topk, nullptr};

}  // namespace lowtide
