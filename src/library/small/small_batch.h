#pragma once
/// LAPACK's routines on batches of small real matrices, row-major, which process as many matrices at once as a vector
/// has lanes.

#include "lapack/lapack.h"
#include "library/library.h"

namespace lowtide::engine {

/// Operands and results are those of the custom call, with row-major matrices. Null if the library is better for a
/// problem: if matrices aren't small, or so few that most lanes would be empty.
std::unique_ptr<LibraryRoutine> make_small_batch(const LapackProblem& problem, int64_t batch);

}  // namespace lowtide::engine
