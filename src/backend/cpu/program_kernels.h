#pragma once
/// The kernels of a program's regions.

#include "backend/backend.h"
#include "codegen/kernel.h"

namespace lowtide::engine {

/// By region; without code if the step needs none. An error of kind kUnsupported names what can't be compiled.
Result<std::vector<Kernel>> program_kernels(const LoweredProgram& lowered, const CompileOptions& options,
                                            CompileRecord& record);

}  // namespace lowtide::engine
