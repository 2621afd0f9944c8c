#pragma once
/// The processor of this machine: kernels as machine code, the routines of src/library, steps one after another in one
/// arena of host memory, each on all threads.

#include "backend/backend.h"

namespace lowtide::engine {

/// It uses the best instruction set that the program's context allows, and the context's kernel cache.
const Backend& cpu_backend();
std::unique_ptr<const Backend> make_cpu_backend(const CompileOptions& options);

}  // namespace lowtide::engine
