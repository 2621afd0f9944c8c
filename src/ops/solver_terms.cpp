#include "ops/solver_terms.h"

#include <algorithm>

#include "ops/lapack_call.h"

namespace lowtide::engine {
namespace {

double elements_of(const Shape& shape) {
  double elements = 1;
  for (const int64_t d : shape.dims) elements *= static_cast<double>(d);
  return elements;
}

/// The number of multiply-adds for an n x n matrix, as a multiple of n^3.
double share_of(LapackRoutine routine) {
  switch (routine) {
    case LapackRoutine::kPotrf: return 1.0 / 6;
    case LapackRoutine::kGetrf: return 1.0 / 3;
    case LapackRoutine::kTrsm: return 1.0 / 2;
    case LapackRoutine::kGeqrf:
    case LapackRoutine::kOrgqr:
    case LapackRoutine::kGeqp3:
    case LapackRoutine::kSytrd: return 2.0 / 3;
    case LapackRoutine::kOrmqr: return 1;
    case LapackRoutine::kGehrd: return 5.0 / 3;
    case LapackRoutine::kSyevd: return 4.5;
    case LapackRoutine::kGesdd:
    case LapackRoutine::kGesvd:
    case LapackRoutine::kGeev:
    case LapackRoutine::kGees: return 12;
    case LapackRoutine::kGtsv: return 0;
  }
  return 0;
}

}  // namespace

SolverWork solver_work(const Instruction& instruction) {
  const auto order_of = [](const Shape& shape) { return static_cast<double>(shape.dims.back()); };
  if (instruction.opcode == Opcode::kCholesky) {
    const double order = order_of(instruction.shape);
    return {elements_of(instruction.shape) * order / 6, order};
  }
  if (instruction.opcode == Opcode::kTriangularSolve) {
    const double order = order_of(instruction.operand(0).shape);
    return {elements_of(instruction.shape) * order / 2, order};
  }
  if (!is_lapack_call(instruction)) return {};
  const Result<LapackCall> call = read_lapack_call(instruction);
  if (!call.ok()) return {};
  const LapackProblem& p = call->problem;
  const double matrix = static_cast<double>(p.m) * p.n * static_cast<double>(call->batch);
  if (p.routine == LapackRoutine::kGtsv) return {4 * matrix, static_cast<double>(p.n)};
  const int32_t order = p.routine == LapackRoutine::kTrsm && p.side == 'R' ? p.n
                        : p.routine == LapackRoutine::kTrsm                ? p.m
                                                                           : std::min(p.m, p.n);
  return {matrix * order * share_of(p.routine), static_cast<double>(order)};
}

}  // namespace lowtide::engine
