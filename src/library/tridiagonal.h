#pragma once
/// A symmetric matrix becomes one of three diagonals, h a h^T, on several threads: LAPACK's sytrd (Dongarra, Sorensen
/// and Hammarling, Block reduction of matrices to condensed forms, 1989), whose products are shared.

#include <cstdint>

#include "base/thread_pool.h"

namespace lowtide::engine {

template <class T>
class Tridiagonal {
 public:
  /// Elements of scratch for a matrix of this order.
  static int64_t room(int64_t n);
  /// a: column-major, its lower triangle. `beside` and `taus` have n - 1 elements; reflectors stay in a, below the
  /// lower diagonal. Same bits for every number of threads.
  static void reduce(T* a, int64_t n, T* diagonal, T* beside, T* taus, T* room, ThreadPool& pool);
};

}  // namespace lowtide::engine
