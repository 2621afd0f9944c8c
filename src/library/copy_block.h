#pragma once
/// Rows of a strided matrix as a dense block, as libraries want them.

#include <cstddef>
#include <cstdint>

#include "library/strided.h"

namespace lowtide {

/// Do consecutive indices lie side by side?
inline bool is_near(const StridedGroup& group) { return group.is_one() && (group.stride() == 1 || group.extent == 1); }

struct IndexRange {
  int64_t first = 0, count = 0;
};

/// rows[outer range] x columns[inner range], elements of `element_bytes` (2 or 4), as a dense block.
void copy_block(int64_t element_bytes, const StridedGroup& outer, const StridedGroup& inner, const void* data,
                int64_t origin, IndexRange outer_range, IndexRange inner_range, std::byte* block);

}  // namespace lowtide
