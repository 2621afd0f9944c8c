#pragma once
/// Sorts one array of numbers and, in step with it, the places that its elements had (argsort), without scratch.

#include "base/thread_pool.h"
#include "library/comparator.h"

namespace lowtide::engine {

/// Does this sort by one of its two operands, whose elements the key orders, while the other one is an iota of 32 bits
/// along the sorted dimension? A stable sort then orders equal keys by the latter, so that no two elements are equal.
bool sorts_with_places(const Instruction& sort, const SortKey& key);

/// Sorts `count` contiguous elements stably by the key, and writes the place that each of them had.
void sort_with_places(ElementType type, const SortKey& key, void* elements, uint32_t* places, int64_t count,
                      ThreadPool* pool);

}  // namespace lowtide::engine
