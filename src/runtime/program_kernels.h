#pragma once
/// The kernels of a program's regions.

#include "codegen/kernel.h"
#include "schedule/nest_cache.h"
#include "schedule/program.h"

namespace lowtide::engine {

/// By region; no code where the step needs none. A fault of kind kUnsupported names what has no code.
/// lowered: what planning has made of regions, and where more is put.
Result<std::vector<Kernel>> program_kernels(const Program& program, const CompileOptions& options, KnownNests& lowered,
                                            CompileRecord& record);

}  // namespace lowtide::engine
