#pragma once
/// Copies of bytes within host memory.

#include <cstdint>

#include "base/thread_pool.h"

namespace lowtide::engine {

/// A store to a line that isn't in a cache reads it first, and evicts another: arrays of at least so many bytes, larger
/// than what caches keep of them, are written past the caches, which takes a half to two thirds of the time.
inline constexpr int64_t kFarBytes = int64_t{64} << 20;

/// memmove by several threads if that pays off; the ranges may overlap. Copies of kFarBytes are written past the
/// caches.
void copy_bytes(void* to, const void* from, int64_t bytes, ThreadPool& pool);

}  // namespace lowtide::engine
