// dot: sum of products over contracting dimensions, batch dimensions walking in step.
//   lhs A[batch, m.., k..], rhs B[batch, n.., k..] (dimensions in any order) -> R[batch, m.., n..]. R is as declared;
//   bf16 and f16 accumulate in f32 and round once, integers wrap.
//   (C1) operands are arrays
//   (C2) dimension lists are in range, none names a dimension twice
//   (C3) as many batch dimensions on both sides, of equal extents
//   (C4) as many contracting dimensions on both sides, of equal extents
#include "ops/dot_checks.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

Result<Shape> infer_dot(const Instruction& dot) {
  LT_RETURN_IF_ERROR(check_arrays(dot, 1));  // (C1)
  if (dot.operands.size() < 2) return broken(dot, 1, "needs two operands");
  const Shape& lhs = dot.operand(0).shape;
  const Shape& rhs = dot.operand(1).shape;
  LT_RETURN_IF_ERROR(check_dot_dims(dot, lhs, rhs));  // (C2)
  // Further operands say which elements of a sparse lhs or rhs are stored: its extents aren't the logical ones.
  if (dot.operands.size() > 2 || has_unbounded(dot)) return dot.shape;
  const auto& attributes = dot.as<DotAttributes>();
  LT_RETURN_IF_ERROR(
      check_paired_extents(dot, lhs, rhs, attributes.lhs_batch_dims, attributes.rhs_batch_dims, "batch", 3));  // (C3)
  LT_RETURN_IF_ERROR(check_paired_extents(dot, lhs, rhs, attributes.lhs_contracting_dims,
                                          attributes.rhs_contracting_dims, "contracting", 4));  // (C4)
  return Shape::array(dot.shape.is_array() ? dot.shape.type : lhs.type, dot_result_dims(attributes, lhs, rhs));
}

}  // namespace

const OpRule kDotRule{read_dot, print_dot, infer_dot, nullptr};

}  // namespace lowtide
