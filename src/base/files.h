#pragma once
/// Files written whole or not at all.

#include <memory>
#include <string>
#include <string_view>

#include "base/open_files.h"
#include "base/status.h"

namespace lowtide::engine {

/// A file that stands beside its final place, under a name that nobody can know before, until it is whole. Gone again
/// if it isn't committed, also where a signal ends the process that asks `files` for it.
class PartialFile {
 public:
  /// Opened for reading and writing. `path` must be free or a regular file, whose owner and mode are kept.
  static Result<PartialFile> create(const std::string& path, OpenFiles* files = nullptr);
  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();
  int descriptor() const { return descriptor_; }
  /// Closes it and puts it into its place.
  Status commit();

 private:
  PartialFile() = default;
  std::string path_, temporary_;
  std::unique_ptr<const UnfinishedFile> unfinished_;
  int descriptor_ = -1;
};

/// Does this name something that a rename would replace by a file: a pipe, a device?
bool is_special_file(const std::string& path);

/// All of it, or an errno.
int write_all(int descriptor, std::string_view content);

/// Writes `content` beside `path` and renames it into place; a pipe or a device is written to. An error leaves no
/// partial file.
Status write_file(const std::string& path, std::string_view content, OpenFiles* files = nullptr);

}  // namespace lowtide::engine
