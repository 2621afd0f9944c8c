#pragma once
/// Copies that routines make before they start: rows of a strided matrix as the dense block that libraries require
/// and transposed matrices.

#include <cstddef>
#include <cstdint>

#include "library/strided.h"
#include "ops/numbers.h"

namespace lowtide::engine {

/// Are consecutive indices adjacent in memory?
inline bool is_near(const StridedGroup& group) { return group.is_one() && (group.stride() == 1 || group.extent == 1); }

/// Is [outer, inner] one dense block of memory?
inline bool is_dense(const StridedGroup& outer, const StridedGroup& inner) {
  return is_near(inner) && outer.is_one() && (outer.extent == 1 || outer.stride() == inner.extent);
}

struct IndexRange {
  int64_t first = 0, count = 0;
};

/// rows[outer range] x columns[inner range], elements of 1, 2, 4, 8 or 16 bytes, as a dense block.
void copy_block(int64_t element_bytes, const StridedGroup& outer, const StridedGroup& inner, const void* data,
                int64_t origin, IndexRange outer_range, IndexRange inner_range, std::byte* block);

/// The same, widened to f32.
void widen_block(const StridedGroup& outer, const StridedGroup& inner, const BFloat16* data, IndexRange outer_range,
                 IndexRange inner_range, float* block);

/// to[i * to_stride + j] = from[j * stride + i], i < rows, j < columns; elements of 2, 4, 8 or 16 bytes.
void copy_transposed(int64_t element_bytes, const std::byte* from, int64_t stride, int64_t rows, int64_t columns,
                     std::byte* to, int64_t to_stride);

}  // namespace lowtide::engine
