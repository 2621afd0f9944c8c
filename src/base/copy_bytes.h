#pragma once
/// Copies of bytes within host memory.

#include <cstdint>

#include "base/thread_pool.h"

namespace lowtide::engine {

/// memmove by several threads if that pays off; the ranges may overlap. Copies that are larger than the caches are
/// written past them.
void copy_bytes(void* to, const void* from, int64_t bytes, ThreadPool& pool);

}  // namespace lowtide::engine
