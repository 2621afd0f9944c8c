#pragma once
/// Eigenvalues and eigenvectors of a symmetric tridiagonal matrix by divide and conquer, on several threads (Gu and
/// Eisenstat, A divide-and-conquer algorithm for the symmetric tridiagonal eigenproblem, 1995): parts are solved
/// concurrently, and threads share the roots, vectors and products of each merge.

#include <cstdint>

#include "base/thread_pool.h"

namespace lowtide::engine {

template <class T>
struct DivideAndConquer {
  /// Sizes of scratch, in elements.
  static int64_t reals(int64_t n);
  static int64_t integers(int64_t n);
  /// Overwrites `diagonal` with the ascending eigenvalues, and the off-diagonal `beside` (n - 1). Column order[i] of
  /// `vectors`, n x n, belongs to eigenvalue i. Returns info, as stedc. Same bits for every number of threads.
  static int32_t solve(int64_t n, T* diagonal, T* beside, T* vectors, int32_t* order, T* reals, int32_t* integers,
                       ThreadPool& pool);
};

}  // namespace lowtide::engine
