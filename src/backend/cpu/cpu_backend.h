#pragma once
/// The processor of this machine: kernels as machine code, the routines of src/library, steps one after another in one
/// arena of host memory, each on all threads.

#include "backend/backend.h"

namespace lowtide::engine {

/// With the best instructions that the context of a program allows, and its kernel cache.
const Backend& cpu_backend();
std::unique_ptr<const Backend> make_cpu_backend(const CompileOptions& options);

}  // namespace lowtide::engine
