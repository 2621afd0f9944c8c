#pragma once
/// p a = l u of one large matrix, column-major, on several threads.

#include "base/thread_pool.h"
#include "lapack/lapack.h"

namespace lowtide::engine {

/// Is a matrix of this problem (getrf) worth more threads than one?
bool is_worth_blocks(const LapackProblem& problem);
/// As run_lapack's getrf: the same pivots and info; same bits for every number of threads.
void factor_in_blocks(const LapackProblem& problem, void* matrix, int32_t* pivots, int32_t* info, ThreadPool& pool);

}  // namespace lowtide::engine
