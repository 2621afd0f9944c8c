#pragma once
/// liblowtide_llvm.so, loaded when it is first needed.

#include <string>

#include "base/status.h"
#include "codegen/llvm_entry.h"

namespace lowtide {

/// Beside the executable, or one folder up (where a build tree has it for its tests), or in ../lib. Empty: nowhere.
const std::string& llvm_library_path();
/// Changes whenever the library does.
const std::string& llvm_library_version();
Result<LlvmCompile> load_llvm_library();

}  // namespace lowtide
