#pragma once
/// Eigenvalues and vectors of a matrix of three diagonals by divide and conquer, on several threads (Gu and Eisenstat,
/// A divide-and-conquer algorithm for the symmetric tridiagonal eigenproblem, 1995): parts side by side, and the roots,
/// vectors and products of what joins them shared.

#include <cstdint>

#include "base/thread_pool.h"

namespace lowtide::engine {

template <class T>
struct DivideAndConquer {
  /// Of scratch.
  static int64_t reals(int64_t n);
  static int64_t integers(int64_t n);
  /// diagonal and beside (n - 1) are used up. Column order[i] of `vectors`, n x n, belongs to the i-th eigenvalue in
  /// diagonal, which ascend. Returns info, as stedc. Same bits for every number of threads.
  static int32_t solve(int64_t n, T* diagonal, T* beside, T* vectors, int32_t* order, T* reals, int32_t* integers,
                       ThreadPool& pool);
};

}  // namespace lowtide::engine
