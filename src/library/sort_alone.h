#pragma once
/// Sorts one array of numbers by f(a) < f(b) in place, without scratch.

#include "base/thread_pool.h"
#include "library/comparator.h"

namespace lowtide::engine {

/// Does the key sort one array by its elements, or by a function that leaves almost all of them unchanged?
bool sorts_alone(ElementType type, const SortKey& key);

/// Sorts `count` contiguous elements stably by the key. If the function changes elements (JAX: -0 to 0, every NaN to
/// one), those that become equal keep their input order: up to kMostMerged such classes in linear time, beyond that by
/// merging in place.
inline constexpr size_t kMostMerged = 8;
void sort_alone(ElementType type, const SortKey& key, ScalarProgram* function, void* line, int64_t count,
                ThreadPool* pool);

}  // namespace lowtide::engine
