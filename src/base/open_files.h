#pragma once
/// A session's files for signal handlers: unfinished ones, which must not be left half-written, and mapped ones, which
/// raise SIGBUS if they shrink. The handlers belong to the code that opened the session.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lowtide::engine {

class Context;

/// One per context (Context::own). Functions for signal handlers neither wait nor allocate memory.
class OpenFiles {
 public:
  OpenFiles() {}  // NOLINT(modernize-use-equals-default): names stay untouched pages until they are needed
  explicit OpenFiles(const Context&) : OpenFiles() {}
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  /// For signal handlers.
  void remove_unfinished() const noexcept;
  /// The name of the file that is mapped there; null if unknown. For signal handlers.
  const char* mapped_at(const void* address) const noexcept;

 private:
  friend class UnfinishedFile;
  friend class MappedFile;
  /// A slot is taken before it is filled in, and its content is valid only while `there` or `end` is set.
  struct Unfinished {
    std::atomic<bool> taken{false}, there{false};
    char name[4096];
  };
  struct Mapping {
    std::atomic<bool> taken{false};
    std::atomic<uintptr_t> begin{0}, end{0};
    std::atomic<const char*> name{nullptr};
  };
  std::array<Unfinished, 16> unfinished_;
  std::array<Mapping, 1024> mappings_;
};

/// A file, or an empty folder, that must not outlive a signal that ends the process (OpenFiles::remove_unfinished).
/// Construct it before the file, and destroy it after the file. If all slots are taken, signals leave the file behind,
/// but faults don't.
class UnfinishedFile {
 public:
  /// files: null if nothing handles signals.
  UnfinishedFile(OpenFiles* files, const std::string& name);
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile();

 private:
  OpenFiles::Unfinished* place_ = nullptr;
};

/// While it exists, these pages are registered as those of `file`.
class MappedFile {
 public:
  MappedFile(OpenFiles* files, const void* begin, size_t bytes, const std::string& file);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

 private:
  const std::string name_;
  OpenFiles::Mapping* place_ = nullptr;
};

}  // namespace lowtide::engine
