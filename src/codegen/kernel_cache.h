#pragma once
/// Objects of kernels, and plans, on disk, shared by processes. It contains code that will run, so only its user may
/// own and write the folder; a file that can't be read, is truncated, was changed, or isn't a plain file of the user
/// counts as missing; an unwritable directory is no error.

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
  /// Keeps at most `most_bytes` in `directory`, which is created if missing, private to its user. A directory of
  /// another user, or one that others may write, is not used: refusal() says why. Keys include `choices` as text
  /// (base/settings.h): other choices have other entries.
  explicit KernelCache(const std::string& directory, std::string choices = {}, int64_t most_bytes = int64_t{256} << 20);
  /// Why nothing is kept although a directory was given; empty: something is, or the directory can't be created.
  const std::string& refusal() const { return refusal_; }
  /// False: nothing is found or kept.
  bool is_there() const { return folder_ != nullptr; }
  /// What was stored under this key.
  std::optional<std::string> find(TextHash key) const;
  void store(TextHash key, std::string_view content, OpenFiles* files = nullptr) const;
  /// The same by the name of the file: a key together with the choices.
  std::optional<std::string> find_named(TextHash name) const;
  void store_named(TextHash name, std::string_view content, OpenFiles* files = nullptr) const;
  /// Removes the least recently used files until the rest fits, and unfinished ones. Other programs' files stay.
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
