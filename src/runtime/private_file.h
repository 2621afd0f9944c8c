#pragma once
/// Pages of a file that may be written without changing the file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/open_files.h"
#include "base/status.h"

namespace lowtide::engine {

class PrivateFile {
 public:
  /// file: opened for reading, and known as `path`.
  static Result<PrivateFile> map(int file, const std::string& path, int64_t offset, int64_t bytes,
                                 OpenFiles* files = nullptr);
  PrivateFile(PrivateFile&& other) noexcept;
  PrivateFile& operator=(PrivateFile&& other) noexcept;
  ~PrivateFile();
  std::byte* data() const { return data_; }
  /// Discards what was written: the bytes are the file's again, at the same address.
  Status restore();

 private:
  PrivateFile() = default;
  std::byte* data_ = nullptr;
  void* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::unique_ptr<const MappedFile> registered_;
};

}  // namespace lowtide::engine
