// triangular-solve: X with op(A) X = B (left side) or X op(A) = B, where A is triangular and transpose_a sets op.
//   A[.., n, n], B[.., n, m] (or [.., m, n] for the right side) -> X of B's shape. The other triangle of A is not read.
//   (C1) floating or complex arrays of one element type
//   (C2) equal ranks >= 2, equal batch extents
//   (C3) A is square, and B has its extent on the solved side
#include "ops/checks.h"
#include "ops/dimension_roles.h"
#include "ops/extents.h"
#include "ops/matrices.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
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

/// Solves A x = b for one vector, with A lower or upper triangular and its entries a(i, j).
template <class S, class Entry>
void solve_vector(Entry&& a, bool lower, bool unit_diagonal, std::vector<S>& x) {
  const size_t n = x.size();
  for (size_t step = 0; step < n; ++step) {
    const size_t i = lower ? step : n - 1 - step;
    S sum = x[i];
    for (size_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) sum -= a(i, j) * x[j];
    x[i] = unit_diagonal ? sum : sum / a(i, i);
  }
}

Result<Value> eval_triangular_solve(const Instruction& solve, Operands operands, EvalContext&) {
  const auto& attributes = solve.as<TriangularSolveAttributes>();
  auto result = std::make_shared<Literal>(solve.shape);
  const auto n = static_cast<size_t>(operands[0]->shape().dims.back());
  const size_t rank = solve.shape.dims.size();
  const auto rows = static_cast<size_t>(solve.shape.dims[rank - 2]),
             columns = static_cast<size_t>(solve.shape.dims[rank - 1]);
  const bool transposed = attributes.transpose_a != Transposition::kNone;
  const bool conjugated = attributes.transpose_a == Transposition::kAdjoint;
  // X op(A) = B is op(A)^T X^T = B^T: rows instead of columns, and one more transposition.
  const bool swapped = transposed == attributes.left_side;
  const size_t vectors = attributes.left_side ? columns : rows;
  dispatch_matrices(solve.shape.type, [&]<class T, class S>() {
    std::vector<S> x(n);
    for (int64_t matrix = 0; result->size() > 0 && matrix < result->size() / static_cast<int64_t>(rows * columns);
         ++matrix) {
      const auto a = operands[0]->data<T>().subspan(static_cast<size_t>(matrix) * n * n, n * n);
      const auto b = operands[1]->data<T>().subspan(static_cast<size_t>(matrix) * rows * columns, rows * columns);
      const auto to = result->data<T>().subspan(static_cast<size_t>(matrix) * rows * columns, rows * columns);
      const auto entry = [&](size_t i, size_t j) {
        const S value(widen(swapped ? a[j * n + i] : a[i * n + j]));
        return conjugated ? conjugate(value) : value;
      };
      for (size_t v = 0; v < vectors; ++v) {
        const auto place = [&](size_t i) { return attributes.left_side ? i * columns + v : v * columns + i; };
        for (size_t i = 0; i < n; ++i) x[i] = S(widen(b[place(i)]));
        solve_vector(entry, attributes.lower != swapped, attributes.unit_diagonal, x);
        for (size_t i = 0; i < n; ++i) to[place(i)] = narrow<T>(static_cast<computed_t<T>>(x[i]));
      }
    }
  });
  return Value(result);
}

std::vector<OperandDimension> roles_of_triangular_solve(const Instruction& instruction, size_t operand) {
  return batch_dimensions(instruction, operand, 2);
}

void extents_of_triangular_solve(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  r.same_as_operand(1);
  relate_square(r, i.operand(0));
  const size_t rank = i.shape.dims.size();
  for (size_t d = 0; d + 2 < rank; ++d) r.unite(r.mine(d), r.of_operand(0, d));
  r.unite(r.mine(i.as<TriangularSolveAttributes>().left_side ? rank - 2 : rank - 1), r.of_operand(0, rank - 1));
}

}  // namespace

const OpRule kTriangularSolveRule{.read = read_triangular_solve,
                                  .print = print_triangular_solve,
                                  .infer = infer_triangular_solve,
                                  .eval = eval_triangular_solve,
                                  .slicing = sliced_in_step(roles_of_triangular_solve),
                                  .extents = extents_of_triangular_solve,
                                  .reads = reads_anywhere,
                                  .arithmetic = kOneRounding};

}  // namespace lowtide::engine
