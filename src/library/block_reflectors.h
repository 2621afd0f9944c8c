#pragma once
/// Many Householder reflectors, as geqrf, sytrd and gebrd leave them, times a matrix, on several threads. 128 at a time
/// are joined to h = 1 - v t v^T (Schreiber and Van Loan, A storage-efficient WY representation, 1989): products deep
/// enough to be worth their operands.

#include <cstdint>

#include "base/thread_pool.h"

namespace lowtide::engine {

/// Reflector j has its 1, which isn't stored, in element j of column j, or of row j, and zeros before it.
template <class T>
struct BlockReflectors {
  const T* at;
  int64_t lead;
  int64_t length, count;  ///< elements of a reflector, and how many there are
  const T* taus;
  bool in_rows = false;
  bool transposed = false;   ///< c = .. h2 h1 c; of columns only
  bool on_identity = false;  ///< c is the identity, on which much of the work is none; columns from the first on

  /// Elements of scratch, for a matrix of so many vectors that are turned.
  int64_t room(int64_t vectors) const;
  /// Columns: c = h1 h2 .. c, c of length x vectors. Rows: c = c (h1 h2 ..)^T, c of vectors x length. Same bits for
  /// every number of threads.
  void apply(int64_t vectors, T* c, int64_t c_lead, T* room, ThreadPool& pool) const;
};

}  // namespace lowtide::engine
