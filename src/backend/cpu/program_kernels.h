#pragma once
/// The kernels of a program's regions.

#include "backend/backend.h"
#include "codegen/kernel.h"

namespace lowtide::engine {

/// By region; no code where the step needs none. A fault of kind kUnsupported names what has no code.
Result<std::vector<Kernel>> program_kernels(const LoweredProgram& lowered, const CompileOptions& options,
                                            CompileRecord& record);

}  // namespace lowtide::engine
