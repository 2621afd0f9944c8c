#include "library/sort_lines.h"

#include <algorithm>
#include <bit>

#include "library/vectors.h"

namespace lowtide::engine {
namespace {

template <int kBytes>
LT_INLINE inline void exchange_lines(uint64_t* first, uint64_t* second) {
  using V = Vector<uint64_t, kBytes>;
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(uint64_t));
  LT_UNROLL for (int k = 0; k < kLinesTogether; k += kLanes) {
    const V a = load_vector<V>(first + k), b = load_vector<V>(second + k);
    store_vector(a < b ? a : b, first + k);
    store_vector(a < b ? b : a, second + k);
  }
}

}  // namespace

void sort_lines_together(uint64_t* numbers, int64_t count) {
  if (count < 2) return;
  const auto top = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count)) / 2);
  with_vectors([&]<int kBytes>() LT_INLINE {
    for (int64_t p = top; p > 0; p /= 2) {
      // Numbers i and i + d are exchanged for all i with (i & p) == r.
      for (int64_t q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
        for (int64_t block = r; block + d < count; block += 2 * p) {
          for (int64_t i = block; i < std::min(block + p, count - d); ++i)
            exchange_lines<kBytes>(numbers + i * kLinesTogether, numbers + (i + d) * kLinesTogether);
        }
        if (q == p) break;
      }
    }
  });
}

}  // namespace lowtide::engine
