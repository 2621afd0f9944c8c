#pragma once
/// Reduces a symmetric matrix to tridiagonal form, h a h^T, on several threads: LAPACK's sytrd (Dongarra, Sorensen and
/// Hammarling, Block reduction of matrices to condensed forms, 1989), with its products shared among threads.

#include <cstdint>

#include "base/thread_pool.h"

namespace lowtide::engine {

template <class T>
class Tridiagonal {
 public:
  /// Scratch, in elements, for a matrix of this order.
  static int64_t room(int64_t n);
  /// a: column-major, its lower triangle. The off-diagonal `beside` and `taus` have n - 1 elements; reflectors stay in
  /// a, below the off-diagonal. Same bits for every number of threads.
  static void reduce(T* a, int64_t n, T* diagonal, T* beside, T* taus, T* room, ThreadPool& pool);
};

}  // namespace lowtide::engine
