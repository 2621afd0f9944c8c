#pragma once
/// One kernel on several threads.

#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "codegen/kernel.h"

namespace lowtide {

/// Nanoseconds of work below which waking a thread costs more than it brings.
inline constexpr double kWorthSplitting = 20'000;

/// How a piece is cut: calls of `chunk` iterations, the last one shorter. One chunk: it isn't worth more.
struct Cut {
  int64_t chunk = 0;
  int64_t chunks = 0;
};
Cut cut(const KernelPiece& piece, int threads);
std::vector<Cut> cuts(const Kernel& kernel, int threads);

/// Runs every piece, one after the other. Same bits for every number of threads: a kernel's iterations don't see how
/// they are cut.
void run_kernel(const Kernel& kernel, std::span<const Cut> cuts, void* const* buffers, ThreadPool& pool);

/// memmove by several threads where it pays; the ranges may overlap.
void copy_bytes(void* to, const void* from, int64_t bytes, ThreadPool& pool);

}  // namespace lowtide
