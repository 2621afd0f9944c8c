#pragma once
/// Objects of kernels, and plans, on disk, shared by processes. It is code that will run, so the folder must be its
/// user's own, written by nobody else; a file that can't be read, is cut off, was changed, or isn't a plain file of the
/// user's own is as good as none; a directory that can't be written is no fault.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/open_files.h"
#include "base/text_hash.h"

namespace lowtide::engine {

class KernelCache {
 public:
  /// Keeps at most `most_bytes` in `directory`, made where it is missing, for its user alone. One that is somebody
  /// else's, or that others may write, is left alone: refusal() says why. Keys are those of `choices`, as text
  /// (base/settings.h): what was kept under other choices is another entry.
  explicit KernelCache(const std::string& directory, std::string choices = {}, int64_t most_bytes = int64_t{256} << 20);
  /// Why nothing is kept though a directory was named; empty: something is, or the directory can't be made.
  const std::string& refusal() const { return refusal_; }
  /// Nothing is found or kept where nothing is.
  bool is_there() const { return folder_ != nullptr; }
  /// What was stored under this key.
  std::optional<std::string> find(TextHash key) const;
  void store(TextHash key, std::string_view content, OpenFiles* files = nullptr) const;
  /// The same by the name of the file: a key together with the choices.
  std::optional<std::string> find_named(TextHash name) const;
  void store_named(TextHash name, std::string_view content, OpenFiles* files = nullptr) const;
  /// Drops the files used longest ago until the rest fits, and what was never finished. Others' files stay.
  void drop_oldest() const;

 private:
  class Folder;
  TextHash name_of(TextHash key) const;

  std::string refusal_;
  std::shared_ptr<const Folder> folder_;  // null: there is none
  std::string choices_;
  int64_t most_bytes_;
};

}  // namespace lowtide::engine
