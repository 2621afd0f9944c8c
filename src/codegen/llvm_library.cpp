#include "codegen/llvm_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <mutex>

namespace lowtide {

const std::string& llvm_library_path() {
  static const std::string kPath = [] {
    namespace fs = std::filesystem;
    std::error_code fault;
    const fs::path folder = fs::read_symlink("/proc/self/exe", fault).parent_path();
    const fs::path above = folder.parent_path();  // tests lie one or two folders below the command
    for (const fs::path& place : {folder, above, above.parent_path(), above / "lib"}) {
      fs::path path = place / "liblowtide_llvm.so";
      if (fs::exists(path, fault)) return path.string();
    }
    return std::string();
  }();
  return kPath;
}

const std::string& llvm_library_version() {
  static const std::string kVersion = [] {
    struct stat status{};
    if (::stat(llvm_library_path().c_str(), &status) != 0) return std::string("none");
    return fmt::format("{} {} {}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }();
  return kVersion;
}

Result<LlvmCompile> load_llvm_library() {
  static std::mutex mutex;
  static LlvmCompile compile = nullptr;
  const std::lock_guard lock(mutex);
  if (compile) return compile;
  if (llvm_library_path().empty()) {
    return Status(Fault::kInternal, "liblowtide_llvm.so, which compiles kernels, is not beside the executable");
  }
  void* library = ::dlopen(llvm_library_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return Status(Fault::kInternal, fmt::format("can't load the kernel compiler: {}", ::dlerror()));
  compile = reinterpret_cast<LlvmCompile>(::dlsym(library, kLlvmEntryName));
  if (!compile) return Status(Fault::kInternal, fmt::format("{} has no {}", llvm_library_path(), kLlvmEntryName));
  return compile;
}

}  // namespace lowtide
