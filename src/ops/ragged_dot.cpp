// ragged-dot: a dot whose lhs rows belong to groups, each with a matrix of its own.
//   lhs [batch, m, k], rhs [g, batch, k, n] with group dimension g, group_sizes s32[g]: rows of group i take rhs[i],
//   rows beyond all groups give 0. With a contracting ragged dimension the result gains a leading group dimension.
//   (C1) operands are arrays; group_sizes are integers
//   (C2) dimension lists are in range, none names a dimension twice
//   (C3) as many batch dimensions on both sides, of equal extents
//   (C4) as many contracting dimensions on both sides, of equal extents
//   (C5) one ragged dimension of lhs; at most one group dimension of rhs
#include <algorithm>

#include "ops/dot_checks.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

Result<Shape> infer_ragged_dot(const Instruction& dot) {
  LT_RETURN_IF_ERROR(check_arrays(dot, 1));  // (C1)
  const Shape& lhs = dot.operand(0).shape;
  const Shape& rhs = dot.operand(1).shape;
  const Shape& sizes = dot.operand(2).shape;
  if (!is_integral(sizes.type) || sizes.rank() == 0) {
    return broken(dot, 1, "group_sizes are " + to_string_without_layout(sizes) + ", not a vector of integers");
  }
  LT_RETURN_IF_ERROR(check_dot_dims(dot, lhs, rhs));  // (C2)
  const auto& attributes = dot.as<DotAttributes>();
  LT_RETURN_IF_ERROR(check_dims(dot, attributes.lhs_ragged_dims, lhs.rank(), "lhs_ragged_dims", 5));  // (C5)
  LT_RETURN_IF_ERROR(check_dims(dot, attributes.rhs_group_dims, rhs.rank(), "rhs_group_dims", 5));
  if (attributes.lhs_ragged_dims.size() != 1 || attributes.rhs_group_dims.size() > 1) {
    return broken(dot, 5, "needs one ragged dimension and at most one group dimension");
  }
  if (has_unbounded(dot)) return dot.shape;
  LT_RETURN_IF_ERROR(
      check_paired_extents(dot, lhs, rhs, attributes.lhs_batch_dims, attributes.rhs_batch_dims, "batch", 3));  // (C3)
  LT_RETURN_IF_ERROR(check_paired_extents(dot, lhs, rhs, attributes.lhs_contracting_dims,
                                          attributes.rhs_contracting_dims, "contracting", 4));  // (C4)
  Shape ungrouped = rhs;  // the group dimension is contracted away
  DotAttributes plain = attributes;
  plain.rhs_contracting_dims.insert(plain.rhs_contracting_dims.end(), attributes.rhs_group_dims.begin(),
                                    attributes.rhs_group_dims.end());
  Dims dims = dot_result_dims(plain, lhs, ungrouped);
  const Dims& contracting = attributes.lhs_contracting_dims;
  if (std::find(contracting.begin(), contracting.end(), attributes.lhs_ragged_dims[0]) != contracting.end()) {
    dims.insert(dims.begin(), sizes.dims.back());
  }
  return Shape::array(dot.shape.is_array() ? dot.shape.type : lhs.type, dims);
}

}  // namespace

const OpRule kRaggedDotRule{read_dot, print_dot, infer_ragged_dot, nullptr};

}  // namespace lowtide
