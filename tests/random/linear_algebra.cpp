/// Factors and solutions of matrices that are far from singular: a + s I with s larger than a row of a.

#include <algorithm>
#include <cmath>

#include "families.h"
#include "numbers.h"
#include "operations.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kLargestMatrix = 12;
constexpr double kLargestElement = 8;

double extent_of(const Instruction& matrix) { return static_cast<double>(matrix.shape.dims.back()); }

/// s where every matrix of the constant is s I.
std::optional<double> multiple_of_identity(const Instruction& i) {
  if (i.opcode != Opcode::kConstant || i.shape.rank() < 2) return {};
  const std::vector<double> all = parts_of(*i.as<ConstantAttributes>().value);
  const auto n = static_cast<size_t>(i.shape.dims.back());
  for (size_t e = 0; e < all.size(); ++e) {
    if (all[e] != (e / n % n == e % n ? all[0] : 0)) return {};
  }
  return all.empty() ? std::optional<double>() : all[0];
}

/// s of a + s I.
std::optional<double> shift_of(const Instruction& matrix) {
  if (matrix.opcode != Opcode::kAdd) return {};
  return multiple_of_identity(matrix.operand(1));
}

/// Is this x x^T of each matrix of a batch?
bool is_gram(const Instruction& i) {
  if (i.opcode != Opcode::kDot || i.operands[0] != i.operands[1]) return false;
  const auto& a = i.as<DotAttributes>();
  return a.lhs_contracting_dims == a.rhs_contracting_dims && a.lhs_batch_dims == a.rhs_batch_dims;
}

Instruction* identity(Scope& scope, const Shape& matrices, double scale) {
  auto literal = std::make_shared<Literal>(matrices);
  const auto n = static_cast<size_t>(matrices.dims.back());
  const auto fill = [&](auto elements, auto diagonal) {
    for (size_t e = 0; e < elements.size(); ++e) elements[e] = e / n % n == e % n ? diagonal : 0;
  };
  if (matrices.type == ElementType::kF64) {
    fill(literal->data<double>(), scale);
  } else {
    fill(literal->data<float>(), static_cast<float>(scale));
  }
  return scope.append(Opcode::kConstant, matrices, {}, ConstantAttributes{literal}, {}, false);
}

bool is_matrix(const Scope::Entry& e) {
  const Shape& s = e.instruction->shape;
  return has_rank(2)(e) && (s.type == ElementType::kF32 || s.type == ElementType::kF64) &&
         s.dims[s.dims.size() - 2] <= kLargestMatrix;
}
bool is_square(const Scope::Entry& e) {
  const Dims& dims = e.instruction->shape.dims;
  return is_matrix(e) && dims[dims.size() - 2] == dims.back();
}

/// x x^T of an array of matrices.
Instruction* gram(Scope& scope, Draws& choices) {
  Instruction* x =
      scope.choose(choices, [](const auto& e) { return is_matrix(e) && e.fact.magnitude() <= kLargestElement; });
  if (!x) return nullptr;
  const int64_t rank = x->shape.rank();
  DotAttributes a;
  a.lhs_contracting_dims = {rank - 1};
  for (int64_t d = 0; d < rank - 2; ++d) a.lhs_batch_dims.push_back(d);
  a.rhs_contracting_dims = a.lhs_contracting_dims;
  a.rhs_batch_dims = a.lhs_batch_dims;
  Dims dims = x->shape.dims;
  dims.back() = dims[dims.size() - 2];
  return scope.append(Opcode::kDot, with_dims(x->shape, dims), {x, x}, a);
}

/// `a` with enough on its diagonals.
Instruction* shifted(Scope& scope, Instruction* a, double shift) {
  Instruction* diagonal = identity(scope, a->shape, shift);
  return diagonal ? scope.append(Opcode::kAdd, a->shape, {a, diagonal}) : nullptr;
}

/// The other triangle is not defined: zeros in its place.
bool make_triangle(Scope& scope, Instruction* matrices, bool lower) {
  auto literal = std::make_shared<Literal>(with_type(matrices->shape, ElementType::kPred));
  const auto elements = literal->data<bool>();
  const auto n = static_cast<size_t>(matrices->shape.dims.back());
  for (size_t e = 0; e < elements.size(); ++e) {
    const size_t row = e / n % n, column = e % n;
    elements[e] = lower ? row >= column : row <= column;
  }
  Instruction* triangle = scope.append(Opcode::kConstant, literal->shape(), {}, ConstantAttributes{literal}, {}, false);
  Instruction* zeros = scope.broadcast(scope.constant(matrices->shape.type, 0), matrices->shape.dims, {});
  return scope.append(Opcode::kSelect, matrices->shape, {triangle, matrices, zeros}) != nullptr;
}

}  // namespace

/// The least eigenvalue is s at least, so the factor moves by no more than |A^-1| |L| |dA| to first order.
Maybe fact_of_cholesky(const Instruction& i, const Facts& operands) {
  const Instruction& matrix = i.operand(0);
  const auto shift = shift_of(matrix);
  if (!shift || !is_gram(matrix.operand(0))) return {};
  const double n = extent_of(matrix), largest = operands[0].magnitude();
  const double backward = 2 * (n + 2) * unit_roundoff(i.shape.type) * largest;
  const double moved = n * (operands[0].error + backward), least = *shift - n * operands[0].error;
  if (least <= 0 || moved > 0.1 * least) return {};
  const double factor = std::sqrt(largest);
  return rounded(i.shape, interval(-factor, factor, 1.5 * std::sqrt(n) * factor * moved / least));
}

/// With a diagonal of at least d and other elements of at most m, no row or column of the inverse sums to more than
/// (1 + m / d)^(n-1) / d, and to no more than 1 / (d - (n - 1) m) where that is positive.
Maybe fact_of_triangular_solve(const Instruction& i, const Facts& operands) {
  const Instruction& matrix = i.operand(0);
  const auto shift = shift_of(matrix);
  if (!shift) return {};
  const Fact &a = operands[0], &b = operands[1];
  const bool unit = i.as<TriangularSolveAttributes>().unit_diagonal;
  const double n = extent_of(matrix), least = unit ? 1 : *shift + a.low - a.error;
  const double other = std::max(std::fabs(a.low), std::fabs(a.high - *shift)) + a.error;
  if (least < 0.1) return {};
  double inverse = std::pow(1 + other / least, n - 1) / least;
  if (least > (n - 1) * other) inverse = std::min(inverse, 1 / (least - (n - 1) * other));
  const double norm = (unit ? 1 : a.magnitude()) + (n - 1) * other, size = inverse * b.magnitude();
  if (inverse * n * a.error > 0.1) return {};
  const double backward = 4 * (n + 2) * unit_roundoff(i.shape.type) * norm;
  return rounded(i.shape, interval(-size, size, 1.5 * inverse * ((n * a.error + backward) * size + b.error)));
}

bool make_triangular_solve(Scope& scope, Draws& choices) {
  Instruction* square = choices.one_in(2) ? scope.choose(choices, is_square) : gram(scope, choices);
  if (!square) return false;
  const int64_t n = square->shape.dims.back();
  const double most = std::ceil(scope.fact(square).magnitude());
  Instruction* matrix = shifted(scope, square, (most + 1) * static_cast<double>(choices.between(2, n + 2)));
  if (!matrix) return false;
  TriangularSolveAttributes a;
  a.left_side = choices.one_in(2);
  a.lower = choices.one_in(2);
  a.unit_diagonal = choices.one_in(4);
  a.transpose_a = static_cast<Transposition>(choices.below(3));
  Dims dims = matrix->shape.dims;
  dims[dims.size() - (a.left_side ? 1 : 2)] = choices.between(1, 4);
  Instruction* b = value_of_shape(scope, choices, with_dims(matrix->shape, dims));
  return scope.append(Opcode::kTriangularSolve, with_dims(matrix->shape, dims), {matrix, b}, a) != nullptr;
}

bool make_cholesky(Scope& scope, Draws& choices) {
  Instruction* product = gram(scope, choices);
  if (!product) return false;
  Instruction* matrix = shifted(scope, product, extent_of(*product) * static_cast<double>(choices.between(1, 4)));
  if (!matrix) return false;
  const bool lower = choices.one_in(2);
  Instruction* factor = scope.append(Opcode::kCholesky, matrix->shape, {matrix}, CholeskyAttributes{lower}, {}, false);
  return factor != nullptr && make_triangle(scope, factor, lower);
}

}  // namespace lowtide::engine
