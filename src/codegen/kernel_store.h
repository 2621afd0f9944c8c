#pragma once
/// A session's kernels: those that are loaded, and the disk cache that backs them.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

#include "base/context.h"
#include "base/text_hash.h"
#include "codegen/kernel.h"
#include "codegen/kernel_cache.h"

namespace lowtide::engine {

/// One of a context (Context::own); all of it may be called from several threads. Kernels have no pieces here, since
/// their extents may differ from nest to nest.
class KernelStore {
 public:
  /// On disk in Settings::cache_directory, under the text of its choices; if that can't be used, a warning says why.
  /// When intermediate stages are shown or dumped, the disk cache isn't read, so that they appear.
  explicit KernelStore(const Context& context);

  const KernelCache& disk() const { return disk_; }
  /// The kernel's code, from memory or from the disk; none: it is in neither.
  std::optional<Kernel> find(TextHash key);
  /// Loads the object and keeps it. A dropped kernel stays alive in the executables that use it.
  Result<Kernel> add(TextHash key, std::string_view object, OpenFiles* files = nullptr);
  /// Has this key been requested before? For the shape-independent part of kernels.
  bool was_met(TextHash key);

 private:
  void remember(TextHash key, const Kernel& kernel, size_t bytes);

  KernelCache disk_;
  std::mutex mutex_;
  std::map<TextHash, Kernel> loaded_;
  std::set<TextHash> met_;
  size_t bytes_ = 0;
};

/// The object's code, mapped; the caller sets its pieces.
Result<Kernel> load_kernel(TextHash key, std::string_view object);

}  // namespace lowtide::engine
