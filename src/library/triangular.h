#pragma once
/// Cholesky factors and triangular systems of row-major matrices. What is row-major is the transpose column-major: the
/// other triangle, the other side, and nothing has to be turned.

#include "lapack/lapack.h"
#include "library/library.h"

namespace lowtide::engine {

/// Problems as their column-major form would state them, on row-major arrays. Operands and results are those of the
/// custom calls: (a) -> (l, info); (triangle, b) -> x.
std::unique_ptr<LibraryRoutine> make_row_major_potrf(const LapackProblem& problem, int64_t batch);
std::unique_ptr<LibraryRoutine> make_row_major_trsm(const LapackProblem& problem, int64_t batch);

}  // namespace lowtide::engine
