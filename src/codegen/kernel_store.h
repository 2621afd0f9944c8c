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

/// One of a context (Context::own); all of it may be called from several threads. Kernels have no pieces here: whose
/// extents they are may differ from nest to nest.
class KernelStore {
 public:
  /// On disk in Settings::cache_directory, under the text of its choices; where that isn't used, a line says why. While
  /// anything is shown or dumped nothing is taken from there: all that is asked for shall be seen.
  explicit KernelStore(const Context& context);

  const KernelCache& disk() const { return disk_; }
  /// The kernel's code, loaded before or from the disk; nothing: it is in neither.
  std::optional<Kernel> find(TextHash key);
  /// Loads the object and keeps it. What is dropped here lives on in the executables that use it.
  Result<Kernel> add(TextHash key, std::string_view object, OpenFiles* files = nullptr);
  /// Was this asked before? Of what kernels of other shapes have in common.
  bool was_met(TextHash key);

 private:
  void remember(TextHash key, const Kernel& kernel, size_t bytes);

  KernelCache disk_;
  std::mutex mutex_;
  std::map<TextHash, Kernel> loaded_;
  std::set<TextHash> met_;
  size_t bytes_ = 0;
};

/// The object's code, mapped; its pieces are who asks for it's to say.
Result<Kernel> load_kernel(TextHash key, std::string_view object);

}  // namespace lowtide::engine
