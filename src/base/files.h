#pragma once
/// Files written whole or not at all.

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace lowtide::engine {

/// A file, or an empty folder, that must not outlive a signal that ends the process (remove_unfinished_files). To be
/// made before the file is, and to go after it.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(const std::string& name);
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile();

 private:
  int place_;  ///< among those that a signal handler looks at; negative: all are taken
};

/// A file that stands beside its final place, under a name that nobody can know before, until it is whole. Gone again
/// if it isn't committed, also where a signal ends the process.
class PartialFile {
 public:
  /// Opened for reading and writing. `path` must be free or a regular file, whose owner and mode are kept.
  static Result<PartialFile> create(const std::string& path);
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

/// Writes `content` beside `path` and renames it into place; `-` is stdout. A fault leaves nothing behind.
Status write_file(const std::string& path, std::string_view content);

/// Writes to stdout and flushes. A reader that has gone away is no fault.
Status write_stdout(std::string_view content);

/// Removes the files that are being written. Only calls what a signal handler may call.
void remove_unfinished_files() noexcept;

}  // namespace lowtide::engine
