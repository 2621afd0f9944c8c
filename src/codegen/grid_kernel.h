#pragma once
/// Code for nests that the threads of a grid run.

#include <cstdint>
#include <string>

#include "base/status.h"
#include "codegen/grid_plan.h"
#include "codegen/llvm_entry.h"

namespace lowtide::engine {

/// One thread's part of a launch, for a machine without a grid; the thread's number is an argument.
using GridFunction = void (*)(void* const* buffers, int64_t launch, int64_t begin, int64_t end, int32_t block,
                              int32_t blocks, int32_t thread);

/// PTX for a device: one kernel for each launch, kKernelSymbol and its number, of GridLaunch::threads() threads a
/// block. It takes an address in global memory for each of the nest's buffers, aligned to its elements, then begin and
/// end. Or an object for this machine (LlvmGridRequest::sm is 0) with the GridFunction kKernelSymbol.
Result<std::string> compile_grid(const LlvmGridRequest& request);

}  // namespace lowtide::engine
