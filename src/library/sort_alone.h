#pragma once
/// Sorting one array of numbers by f(a) < f(b) where it lies, with no room beside it.

#include "base/thread_pool.h"
#include "library/comparator.h"

namespace lowtide::engine {

/// Is this a sort of one array by its elements, or by a function that keeps almost all of them as they are?
bool sorts_alone(ElementType type, const SortKey& key);

/// Sorts `count` neighbouring elements stably by the key. Where the function changes elements (JAX: -0 to 0, every NaN
/// to one), those that become equal keep the order they came in: up to kMostMerged such classes in linear time, beyond
/// that by merging in place.
inline constexpr size_t kMostMerged = 8;
void sort_alone(ElementType type, const SortKey& key, ScalarProgram* function, void* line, int64_t count,
                ThreadPool* pool);

}  // namespace lowtide::engine
