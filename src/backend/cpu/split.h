#pragma once
/// Runs one kernel on several threads.

#include <cstddef>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "codegen/kernel.h"

namespace lowtide::engine {

/// Nanoseconds of work below which waking a thread costs more than it saves.
inline constexpr double kWorthSplitting = 12'000;

/// How a piece is divided: calls of `chunk` iterations, the last one shorter; one chunk if dividing isn't worthwhile.
struct Portions {
  int64_t chunk = 0;
  int64_t chunks = 0;
};
Portions portion(const KernelPiece& piece, int threads);
std::vector<Portions> portions_of(const Kernel& kernel, int threads);

/// Runs every piece, one after the other, except those in `idle` (ascending). The bits don't depend on the number of
/// threads, since a kernel's iterations don't depend on the division.
void run_kernel(const Kernel& kernel, std::span<const Portions> portions, std::span<const int32_t> idle,
                void* const* buffers, ThreadPool& pool);

}  // namespace lowtide::engine
