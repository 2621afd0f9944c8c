#pragma once
/// The order in which an array's dimensions lie in memory, minor to major, as layouts state it: {1,0} is row by row.

#include "ir/shape.h"

namespace lowtide::engine {

Dims row_by_row(size_t rank);
bool is_row_by_row(const Dims& order);
/// Each of `rank` dimensions once.
bool is_order(const Dims& order, size_t rank);
/// For each dimension its place in the list.
Dims inverse_of(const Dims& order);
/// The extents major to minor: those of a row-major array with the same bytes. Transposing to it takes the dimensions
/// reversed(order), transposing back inverse_of(reversed(order)).
Dims extents_in_memory(const Dims& dims, const Dims& order);
Dims reversed(Dims order);

}  // namespace lowtide::engine
