#pragma once
/// Applies many Householder reflectors, as geqrf, sytrd and gebrd store them, to a matrix, on several threads. Blocks
/// of 128 become h = 1 - v t v^T (Schreiber and Van Loan, A storage-efficient WY representation, 1989): products deep
/// enough to amortise reading their operands.

#include <cstdint>

#include "base/thread_pool.h"

namespace lowtide::engine {

/// Element j of reflector j is 1 and isn't stored; those before it are 0. Reflector j is column j of `at`, or row j.
template <class T>
struct BlockReflectors {
  const T* at;
  int64_t lead;
  int64_t length, count;  ///< elements of a reflector, and number of reflectors
  const T* taus;
  bool in_rows = false;
  bool transposed = false;   ///< c = .. h2 h1 c; only for columns
  bool on_identity = false;  ///< c holds columns of the identity, from the first on: their zeros are skipped

  /// Scratch, in elements, for a matrix c of so many columns (in_rows: rows).
  int64_t room(int64_t vectors) const;
  /// Columns: c = h1 h2 .. c, with c of length x vectors. Rows: c = c (h1 h2 ..)^T, with c of vectors x length. Same
  /// bits for every number of threads.
  void apply(int64_t vectors, T* c, int64_t c_lead, T* room, ThreadPool& pool) const;
};

}  // namespace lowtide::engine
