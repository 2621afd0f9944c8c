#pragma once
/// Cholesky factors and triangular systems of row-major matrices. A row-major matrix is its transpose in column-major
/// order: only the triangle and the side change, and nothing is transposed.

#include "lapack/lapack.h"
#include "library/library.h"

namespace lowtide::engine {

/// `problem` is stated as for column-major arrays, but the arrays are row-major. Operands and results are those of the
/// custom calls: (a) -> (l, info); (triangle, b) -> x.
std::unique_ptr<LibraryRoutine> make_row_major_potrf(const LapackProblem& problem, int64_t batch);
std::unique_ptr<LibraryRoutine> make_row_major_trsm(const LapackProblem& problem, int64_t batch);

}  // namespace lowtide::engine
