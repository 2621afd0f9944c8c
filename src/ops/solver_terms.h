#pragma once
/// What factorisations and triangular systems cost.

#include "ir/module.h"

namespace lowtide::engine {

/// Products that are added up, of cholesky, triangular-solve and LAPACK's custom calls; 0 for anything else. By the
/// pages of LAPACK for square matrices, near enough for others.
struct SolverWork {
  double terms = 0;
  double order = 1;  ///< of the matrices
};
SolverWork solver_work(const Instruction& instruction);

}  // namespace lowtide::engine
