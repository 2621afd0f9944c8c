// triangular-solve: X with op(A) X = B (left side) or X op(A) = B, A triangular, op by transpose_a.
//   A[.., n, n], B[.., n, m] (or [.., m, n] for the right side) -> X like B. The other triangle of A is not read.
//   (C1) floating or complex arrays of one element type
//   (C2) equal ranks >= 2, equal batch extents
//   (C3) A is square, and B has its extent on the solved side
#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

constexpr std::string_view kTranspositions[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};

Status read_triangular_solve(AttributeReader& reader, Instruction& solve) {
  TriangularSolveAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.left_side, reader.take_bool_or("left_side", false));
  LT_ASSIGN_OR_RETURN(attributes.lower, reader.take_bool_or("lower", false));
  LT_ASSIGN_OR_RETURN(attributes.unit_diagonal, reader.take_bool_or("unit_diagonal", false));
  LT_ASSIGN_OR_RETURN(const std::string transpose, reader.take_word_or("transpose_a", "NO_TRANSPOSE"));
  size_t kind = 0;
  while (kind < 3 && kTranspositions[kind] != transpose) ++kind;
  if (kind == 3) return reader.fault_at("transpose_a", "expected NO_TRANSPOSE, TRANSPOSE or ADJOINT, got " + transpose);
  attributes.transpose_a = static_cast<Transposition>(kind);
  solve.attributes = attributes;
  return {};
}

void print_triangular_solve(const Instruction& solve, AttributeWriter& writer) {
  const auto& attributes = solve.as<TriangularSolveAttributes>();
  if (attributes.left_side) writer.boolean("left_side", true);
  if (attributes.lower) writer.boolean("lower", true);
  if (attributes.unit_diagonal) writer.boolean("unit_diagonal", true);
  writer.text("transpose_a", kTranspositions[static_cast<size_t>(attributes.transpose_a)]);
}

Result<Shape> infer_triangular_solve(const Instruction& solve) {
  const Shape& a = solve.operand(0).shape;
  const Shape& b = solve.operand(1).shape;
  if (a.type != b.type || !(is_floating(a.type) || is_complex(a.type))) {  // (C1)
    return broken(solve, 1, "can't solve " + to_string_without_layout(a) + " for " + to_string_without_layout(b));
  }
  const size_t rank = a.dims.size();
  bool alike = rank >= 2 && b.dims.size() == rank;
  for (size_t d = 0; alike && d + 2 < rank; ++d) alike = a.dims[d] == b.dims[d];
  if (!alike) {  // (C2)
    return broken(solve, 2,
                  "ranks or batches differ: " + to_string_without_layout(a) + ", " + to_string_without_layout(b));
  }
  const bool left = solve.as<TriangularSolveAttributes>().left_side;
  if (a.dims[rank - 1] != a.dims[rank - 2] || b.dims[left ? rank - 2 : rank - 1] != a.dims[rank - 1]) {  // (C3)
    return broken(solve, 3, "extents don't fit: " + to_string_without_layout(a) + ", " + to_string_without_layout(b));
  }
  return bare(b);
}

}  // namespace

const OpRule kTriangularSolveRule{read_triangular_solve, print_triangular_solve, infer_triangular_solve, nullptr};

}  // namespace lowtide
