#pragma once
/// The cost of factorisations and triangular systems.

#include "ir/module.h"

namespace lowtide::engine {

/// The number of multiply-adds of cholesky, triangular-solve and LAPACK's custom calls; 0 for anything else. By
/// LAPACK's documentation for square matrices, roughly right for others.
struct SolverWork {
  double terms = 0;
  double order = 1;  ///< the matrices' order
};
SolverWork solver_work(const Instruction& instruction);

}  // namespace lowtide::engine
