#pragma once
/// Reduces a matrix to bidiagonal form, q^T a p, on several threads: LAPACK's gebrd (Dongarra, Sorensen and Hammarling,
/// Block reduction of matrices to condensed forms, 1989), with its products shared among threads.

#include <cstdint>

#include "base/thread_pool.h"

namespace lowtide::engine {

template <class T>
class Bidiagonal {
 public:
  /// Scratch, in elements.
  static int64_t room(int64_t m, int64_t n);
  /// a: column-major, m rows, n columns, m >= n. `diagonal` and `left_taus` have n elements, the superdiagonal `beside`
  /// and `right_taus` n - 1. Reflectors of q stay below the diagonal, those of p right of the superdiagonal, in rows.
  /// Same bits for every number of threads.
  static void reduce(T* a, int64_t m, int64_t n, T* diagonal, T* beside, T* left_taus, T* right_taus, T* room,
                     ThreadPool& pool);
};

}  // namespace lowtide::engine
