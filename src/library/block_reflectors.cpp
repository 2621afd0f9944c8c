#include "library/block_reflectors.h"

#include <algorithm>

#include "lapack/blas.h"
#include "library/lanes.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kBlock = 128;    ///< reflectors that share one t
constexpr int64_t kVectors = 128;  ///< columns, or rows, of c per task

int64_t blocks_of(int64_t count) { return (count + kBlock - 1) / kBlock; }

template <class T>
Lanes lanes_for(int64_t tasks, int64_t elements) {
  return {tasks, elements * static_cast<int64_t>(sizeof(T))};
}
template <class T>
Lanes joining(const BlockReflectors<T>& h) {
  return lanes_for<T>(blocks_of(h.count), (h.length + kBlock) * kBlock);
}
template <class T>
Lanes turning(int64_t vectors) {
  return lanes_for<T>((vectors + kVectors - 1) / kVectors, kVectors * kBlock);
}

/// Computes t of the reflectors from `first` on: column i is -tau t (v^T v_i) above its diagonal, tau on it.
template <class T>
void join(const BlockReflectors<T>& h, int64_t first, T* room, T* t) {
  const int64_t count = std::min(kBlock, h.count - first), rows = h.length - first;
  T* v = room;
  T* squares = v + h.length * kBlock;
  for (int64_t j = 0; j < count; ++j) {
    T* column = v + j * rows;
    const T* from = h.at + (first + j) * (h.in_rows ? 1 : h.lead) + first * (h.in_rows ? h.lead : 1);
    const int64_t step = h.in_rows ? h.lead : 1;
    std::fill_n(column, j, T(0));
    column[j] = 1;
    for (int64_t i = j + 1; i < rows; ++i) column[i] = from[i * step];
  }
  Blas<T>::gemm('T', 'N', count, count, rows, 1, v, rows, v, rows, 0, squares, kBlock);
  for (int64_t i = 0; i < count; ++i) {
    T* column = t + i * kBlock;
    const T tau = h.taus[first + i];
    std::fill_n(column, i, T(0));
    column[i] = tau;
    for (int64_t c = 0; c < i; ++c) {
      const T factor = -tau * squares[c + i * kBlock];
      for (int64_t r = 0; r <= c; ++r) column[r] += t[r + c * kBlock] * factor;
    }
  }
}

}  // namespace

template <class T>
int64_t BlockReflectors<T>::room(int64_t vectors) const {
  const int64_t lanes = std::max(joining(*this).scratch_bytes(), turning<T>(vectors).scratch_bytes());
  return blocks_of(count) * kBlock * kBlock + lanes / static_cast<int64_t>(sizeof(T));
}

template <class T>
void BlockReflectors<T>::apply(int64_t vectors, T* c, int64_t c_lead, T* room, ThreadPool& pool) const {
  T* factors = room;
  T* lanes = factors + blocks_of(count) * kBlock * kBlock;
  joining(*this).run(pool, lanes, [&](int64_t block, std::byte* own) {
    join(*this, block * kBlock, reinterpret_cast<T*>(own), factors + block * kBlock * kBlock);
  });
  turning<T>(vectors).run(pool, lanes, [&](int64_t task, std::byte* own) {
    const int64_t from = task * kVectors, some = std::min(kVectors, vectors - from);
    for (int64_t step = 0; step < blocks_of(count); ++step) {
      const int64_t block = transposed ? step : blocks_of(count) - 1 - step, first = block * kBlock;
      if (on_identity && first >= from + some) continue;
      const int64_t joined = std::min(kBlock, count - first), rest = length - first;
      const T* v = at + first * (lead + 1);
      const T* t = factors + block * kBlock * kBlock;
      T* work = reinterpret_cast<T*>(own);
      if (in_rows) {
        Blas<T>::larfb('R', 'T', some, rest, joined, v, lead, t, kBlock, c + from + first * c_lead, c_lead, work);
      } else {
        Blas<T>::larfb('L', transposed ? 'T' : 'N', rest, some, joined, v, lead, t, kBlock, c + first + from * c_lead,
                       c_lead, work);
      }
    }
  });
}

template struct BlockReflectors<float>;
template struct BlockReflectors<double>;

}  // namespace lowtide::engine
