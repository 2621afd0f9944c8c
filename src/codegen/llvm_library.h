#pragma once
/// liblowtide_llvm.so, loaded when it is first needed.

#include <string>

#include "base/status.h"
#include "codegen/llvm_entry.h"

namespace lowtide::engine {

/// Searched in the directory of `object`, the executable or library with this code (a build tree has a link next to its
/// tests), or in the library folder if that directory is bin, and nowhere else: neither the environment nor the working
/// directory nor a parent folder influences which code is loaded. Empty: there is none, or another user could have
/// written it.
std::string find_llvm_library(const std::string& object);
/// The path for the object that contains this function.
const std::string& llvm_library_path();
/// Changes whenever the library does.
const std::string& llvm_library_version();
Result<LlvmCompile> load_llvm_library();
Result<LlvmCompileGrid> load_llvm_grid();
/// Releases its code and constants from this process's memory; the next call reloads them from the page cache.
void rest_llvm_library();

}  // namespace lowtide::engine
