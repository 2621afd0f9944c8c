#pragma once
/// A stripe of a symmetric matrix times a vector: each element is read once, for its row and for its column.

#include <cstdint>

namespace lowtide::engine {

/// a: column-major, of which only the lower triangle is read. sums[i] += a(i, j) v[j] and sums[j] += a(i, j) v[i] for
/// columns `from` <= j < `to` and rows j < i < n; elements of the diagonal are added once. S: float or double.
template <class S>
void add_symmetric_product(const S* a, int64_t lead, int64_t n, int64_t from, int64_t to, const S* v, S* sums);

}  // namespace lowtide::engine
