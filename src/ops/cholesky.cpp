// cholesky: A = L L^H of each matrix of a batch, A[.., n, n] -> L (or L^H, the upper factor). The other triangle of A
// is not read; that of the result is zero here. A matrix that isn't positive definite gives NaN.
//   (C1) a floating or complex array of rank >= 2, its last two extents equal
#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

Status read_cholesky(AttributeReader& reader, Instruction& cholesky) {
  CholeskyAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.lower, reader.take_bool_or("lower", false));
  cholesky.attributes = attributes;
  return {};
}

void print_cholesky(const Instruction& cholesky, AttributeWriter& writer) {
  if (cholesky.as<CholeskyAttributes>().lower) writer.boolean("lower", true);
}

Result<Shape> infer_cholesky(const Instruction& cholesky) {
  const Shape& a = cholesky.operand(0).shape;
  if (!(is_floating(a.type) || is_complex(a.type)) || a.rank() < 2 || a.dims[a.dims.size() - 2] != a.dims.back()) {
    return broken(cholesky, 1, "needs square matrices of floats, got " + to_string_without_layout(a));
  }
  return bare(a);
}

}  // namespace

const OpRule kCholeskyRule{read_cholesky, print_cholesky, infer_cholesky, nullptr};

}  // namespace lowtide
