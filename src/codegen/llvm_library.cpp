#include "codegen/llvm_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace lowtide::engine {

namespace {

/// Could this file only be written by users who could also have written this code?
bool is_trusted(const std::string& path, uid_t owner_of_object) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
  return (about.st_uid == 0 || about.st_uid == owner_of_object) && (about.st_mode & S_IWOTH) == 0;
}

/// The path of the file that the system mapped at this address; the loader may know only a relative name.
std::string mapped_object(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    int path = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx %*s %*s %*s %*s %n", &begin, &end, &path) < 2) continue;
    if (address >= begin && address < end && path > 0) return line.substr(static_cast<size_t>(path));
  }
  return {};
}

}  // namespace

std::string find_llvm_library(const std::string& object) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(object).parent_path();
  struct stat own{};
  if (!folder.is_absolute() || ::stat(object.c_str(), &own) != 0) return {};
  std::vector<fs::path> places = {folder};
  if (folder.filename() == "bin") {
    places.push_back(folder.parent_path() / "lib");
    places.push_back(folder.parent_path() / LOWTIDE_LIBRARY_FOLDER);
  }
  for (const fs::path& place : places) {
    const std::string path = place / "liblowtide_llvm.so";
    if (is_trusted(path, own.st_uid)) return path;
  }
  return {};
}

const std::string& llvm_library_path() {
  static const std::string kPath = find_llvm_library(mapped_object(reinterpret_cast<uintptr_t>(&find_llvm_library)));
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

namespace {

Result<void*> find_entry(const char* name) {
  if (llvm_library_path().empty()) {
    return Status(Fault::kInternal,
                  "liblowtide_llvm.so, which compiles kernels, is neither beside the library or executable, nor in "
                  "../lib of its bin");
  }
  void* library = ::dlopen(llvm_library_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return Status(Fault::kInternal, fmt::format("can't load the kernel compiler: {}", ::dlerror()));
  void* const entry = ::dlsym(library, name);
  if (!entry) return Status(Fault::kInternal, fmt::format("{} has no {}", llvm_library_path(), name));
  return entry;
}

/// Called for each loaded object; stops at the LLVM library. Its read-only pages are equal to the file's, because its
/// code is position-independent: the system reads a dropped page again when it is needed.
int rest_object(dl_phdr_info* object, size_t, void*) {
  if (llvm_library_path() != object->dlpi_name) return 0;
  constexpr uintptr_t kPage = 4096;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const uintptr_t start = object->dlpi_addr + segment.p_vaddr;
    const uintptr_t from = (start + kPage - 1) / kPage * kPage, to = (start + segment.p_filesz) / kPage * kPage;
    if (from < to) (void)::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
  }
  return 1;
}

}  // namespace

void rest_llvm_library() {
  if (::dl_iterate_phdr(rest_object, nullptr) != 0) (void)::malloc_trim(0);
}

Result<LlvmCompile> load_llvm_library() {
  LT_ASSIGN_OR_RETURN(void* const entry, find_entry(kLlvmEntryName));
  // Drop the 2 MiB of relocations that the loader has applied: they aren't read again.
  [[maybe_unused]] static const int kOnce = ::dl_iterate_phdr(rest_object, nullptr);
  return reinterpret_cast<LlvmCompile>(entry);
}

Result<LlvmCompileGrid> load_llvm_grid() {
  LT_ASSIGN_OR_RETURN(void* const entry, find_entry(kLlvmGridEntryName));
  return reinterpret_cast<LlvmCompileGrid>(entry);
}

}  // namespace lowtide::engine
