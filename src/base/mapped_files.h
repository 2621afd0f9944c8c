#pragma once
/// Which file a page of memory belongs to: when a file shrinks while it is mapped, reading its pages raises SIGBUS.

#include <cstddef>
#include <string>

namespace lowtide::engine {

/// While one stands, these pages are those of `file`.
class MappedFile {
 public:
  MappedFile(const void* begin, size_t bytes, const std::string& file);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

 private:
  int place_;  ///< negative: there was none left
};

/// The name of the file that is mapped there; null where none is known. Calls nothing that a signal handler may not.
const char* file_mapped_at(const void* address) noexcept;

}  // namespace lowtide::engine
