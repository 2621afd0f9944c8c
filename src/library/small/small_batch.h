#pragma once
/// LAPACK's routines on batches of small real matrices, row-major: as many matrices at once as a vector has lanes.

#include "lapack/lapack.h"
#include "library/library.h"

namespace lowtide::engine {

/// Operands and results are those of the custom call, matrices row-major. Null where the library serves a problem
/// better: matrices that aren't small, or so few that most lanes would have none.
std::unique_ptr<LibraryRoutine> make_small_batch(const LapackProblem& problem, int64_t batch);

}  // namespace lowtide::engine
