#pragma once
/// Objects of kernels, and plans, on disk, shared by processes. A file that can't be read, is cut off or was changed is
/// as good as none; a directory that can't be written is no fault.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text_hash.h"

namespace lowtide {

class KernelCache {
 public:
  /// Keeps at most `most_bytes` in `directory`, made where it is missing.
  explicit KernelCache(std::string directory, int64_t most_bytes = int64_t{256} << 20);
  std::optional<std::string> find(TextHash key) const;
  void store(TextHash key, std::string_view object) const;
  /// Drops the files used longest ago until the rest fits.
  void drop_oldest() const;

 private:
  std::string path_of(TextHash key) const;
  std::string directory_;  // empty: there is none
  int64_t most_bytes_;
};

/// $LOWTIDE_CACHE, else $XDG_CACHE_HOME/lowtide, else ~/.cache/lowtide; empty where none of them is set.
std::string kernel_cache_directory();

}  // namespace lowtide
