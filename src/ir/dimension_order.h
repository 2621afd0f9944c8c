#pragma once
/// The order of an array's dimensions in memory, minor to major, as in layouts: {1,0} is row by row.

#include "ir/shape.h"

namespace lowtide::engine {

Dims row_by_row(size_t rank);
bool is_row_by_row(const Dims& order);
/// Does the list contain each of `rank` dimensions once?
bool is_order(const Dims& order, size_t rank);
/// For each dimension its position in the list.
Dims inverse_of(const Dims& order);
/// The list's entries at these positions.
Dims entries_at(const Dims& positions, const Dims& list);
/// The extents major to minor: those of a row-major array with the same bytes. To transpose to it use the dimensions
/// reversed(order), to transpose back inverse_of(reversed(order)).
Dims extents_in_memory(const Dims& dims, const Dims& order);
Dims reversed(Dims order);

}  // namespace lowtide::engine
