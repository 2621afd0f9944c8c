#pragma once
/// Files written whole or not at all.

#include <memory>
#include <string>
#include <string_view>

#include "base/open_files.h"
#include "base/status.h"

namespace lowtide::engine {

/// A file that is written next to its final path, under an unpredictable name, until it is complete. It is removed if
/// it isn't committed, also if a signal ends the process, provided that its handler uses `files`.
class PartialFile {
 public:
  /// Opened for reading and writing. `path` must be free or a regular file, whose owner and mode are kept.
  static Result<PartialFile> create(const std::string& path, OpenFiles* files = nullptr);
  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();
  int descriptor() const { return descriptor_; }
  /// Closes the file and moves it to its final path.
  Status commit();

 private:
  PartialFile() = default;
  std::string path_, temporary_;
  std::unique_ptr<const UnfinishedFile> unfinished_;
  int descriptor_ = -1;
};

/// Does this path name a pipe or a device, which a rename would replace by a file?
bool is_special_file(const std::string& path);

/// Writes all of `content`. Returns 0, or an errno.
int write_all(int descriptor, std::string_view content);

/// Writes `content` to a file next to `path` and renames it to `path`; writes to a pipe or a device directly. An error
/// leaves no partial file.
Status write_file(const std::string& path, std::string_view content, OpenFiles* files = nullptr);

}  // namespace lowtide::engine
