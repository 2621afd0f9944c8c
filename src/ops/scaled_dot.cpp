// scaled-dot: a dot of two arrays of small floats that carry scale factors for blocks of elements (MX formats).
//   lhs, rhs, lhs_scale, rhs_scale: a scale has the rank of its array; each extent divides the array's. The product is
//   of array elements times the scales of their blocks.
//   (C1) two to four operands, arrays
#include "ops/dot_checks.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

Result<Shape> infer_scaled_dot(const Instruction& dot) {
  LT_RETURN_IF_ERROR(check_arrays(dot, 1));  // (C1)
  if (dot.operands.size() < 2 || dot.operands.size() > 4) return broken(dot, 1, "needs two to four operands");
  return dot.shape;
}

}  // namespace

const OpRule kScaledDotRule{read_dot, print_dot, infer_scaled_dot, nullptr};

}  // namespace lowtide
