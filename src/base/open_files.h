#pragma once
/// Files that a session is about: those that aren't finished, which nobody shall find half-written, and those whose
/// pages are mapped, which raise SIGBUS where they shrink. Kept for the signal handlers of whoever opened the session.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lowtide::engine {

class Context;

/// One of a context (Context::own). What a handler may call waits for nobody and takes no memory.
class OpenFiles {
 public:
  OpenFiles() {}  // NOLINT(modernize-use-equals-default): names stay untouched pages until they are needed
  explicit OpenFiles(const Context&) : OpenFiles() {}
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  /// For signal handlers.
  void remove_unfinished() const noexcept;
  /// The name of the file that is mapped there; null where none is known. For signal handlers.
  const char* mapped_at(const void* address) const noexcept;

 private:
  friend class UnfinishedFile;
  friend class MappedFile;
  /// A place is taken before it is filled in, and what is asked about it counts only while `there` or `end` is set.
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

/// A file, or an empty folder, that must not outlive a signal that ends the process (OpenFiles::remove_unfinished). To
/// be made before the file is, and to go after it. Where all places are taken it is only safe from faults, not from
/// signals.
class UnfinishedFile {
 public:
  /// files: null where nobody handles signals.
  UnfinishedFile(OpenFiles* files, const std::string& name);
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile();

 private:
  OpenFiles::Unfinished* place_ = nullptr;
};

/// While one stands, these pages are those of `file`.
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
