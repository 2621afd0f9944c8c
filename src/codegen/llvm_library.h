#pragma once
/// liblowtide_llvm.so, loaded when it is first needed.

#include <string>

#include "base/status.h"
#include "codegen/llvm_entry.h"

namespace lowtide::engine {

/// Beside `object`, the executable or the library that holds this code (a build tree has a link to it beside its
/// tests), or in the folder for libraries where that is in bin, and nowhere else: neither the environment nor the
/// working directory nor a folder above has a say in which code is loaded. Empty: there is none, or somebody else could
/// have written it.
std::string find_llvm_library(const std::string& object);
/// That of the object which holds this function.
const std::string& llvm_library_path();
/// Changes whenever the library does.
const std::string& llvm_library_version();
Result<LlvmCompile> load_llvm_library();
Result<LlvmCompileGrid> load_llvm_grid();
/// Its code and constants leave this process's memory until somebody calls it again, who finds them in the page cache.
void rest_llvm_library();

}  // namespace lowtide::engine
