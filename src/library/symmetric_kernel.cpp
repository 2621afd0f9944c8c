#include "library/symmetric_kernel.h"

#include <algorithm>
#include <cstring>

#include "library/vectors.h"

namespace lowtide::engine {
namespace {

constexpr int kColumns = 4;  ///< columns whose sums stay in registers while rows pass

/// One body for all instruction sets: vectors of `kBytes`, which the function it is inlined into maps to registers.
/// Adds the rows from `first` on of `kColumns` columns.
template <class S, int kBytes>
[[gnu::always_inline]] inline void add_rows(const S* a, int64_t lead, int64_t first, int64_t n, const S* factors,
                                            const S* v, S* sums, S* column_sums) {
  using Vector = lowtide::engine::Vector<S, kBytes>;
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(S));
  Vector across[kColumns] = {};
  int64_t i = first;
  for (; i + kLanes <= n; i += kLanes) {
    Vector here, sum;
    std::memcpy(&here, v + i, sizeof here);
    std::memcpy(&sum, sums + i, sizeof sum);
    LT_UNROLL for (int c = 0; c < kColumns; ++c) {
      Vector element;
      std::memcpy(&element, a + i + c * lead, sizeof element);
      sum += element * factors[c];
      across[c] += element * here;
    }
    std::memcpy(sums + i, &sum, sizeof sum);
  }
  for (int c = 0; c < kColumns; ++c) {
    S sum = 0;
    for (int l = 0; l < kLanes; ++l) sum += across[c][l];
    for (int64_t r = i; r < n; ++r) {
      sums[r] += a[r + c * lead] * factors[c];
      sum += a[r + c * lead] * v[r];
    }
    column_sums[c] += sum;
  }
}

template <class S, int kBytes>
[[gnu::always_inline]] inline void add_stripe(const S* a, int64_t lead, int64_t n, int64_t from, int64_t to, const S* v,
                                              S* sums) {
  for (int64_t j = from; j < to; j += kColumns) {
    const int64_t columns = std::min<int64_t>(kColumns, to - j);
    const int64_t below = columns == kColumns ? j + kColumns : n;  // fewer columns: element by element
    for (int64_t c = j; c < j + columns; ++c) {
      sums[c] += a[c + c * lead] * v[c];
      for (int64_t i = c + 1; i < below; ++i) {
        sums[i] += a[i + c * lead] * v[c];
        sums[c] += a[i + c * lead] * v[i];
      }
    }
    if (below < n) add_rows<S, kBytes>(a + j * lead, lead, below, n, v + j, v, sums, sums + j);
  }
}

}  // namespace

template <class S>
void add_symmetric_product(const S* a, int64_t lead, int64_t n, int64_t from, int64_t to, const S* v, S* sums) {
  with_vectors([&]<int kBytes>() LT_INLINE { add_stripe<S, kBytes>(a, lead, n, from, to, v, sums); });
}

template void add_symmetric_product(const float*, int64_t, int64_t, int64_t, int64_t, const float*, float*);
template void add_symmetric_product(const double*, int64_t, int64_t, int64_t, int64_t, const double*, double*);

}  // namespace lowtide::engine
