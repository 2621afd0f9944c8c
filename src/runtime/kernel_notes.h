#pragma once
/// Notes in the cache, beside the kernels: which of them a region became, so that a program that is run again isn't
/// lowered again. Like the kernels themselves they are trusted, as nobody but their user writes there.

#include <optional>
#include <string>

#include "codegen/kernel.h"
#include "codegen/kernel_cache.h"

namespace lowtide {

class KernelNotes {
 public:
  /// Notes are of this build and this target alone. Without options.use_cache there are none.
  static Result<KernelNotes> make(const CompileOptions& options,
                                  const std::string& directory = kernel_cache_directory());
  /// source: all that the kernel is made from.
  std::optional<Kernel> find(const std::string& source) const;
  void store(const std::string& source, const Kernel& kernel) const;

 private:
  KernelNotes(const CompileOptions& options, std::string target, const std::string& directory);
  TextHash name_of(const std::string& source) const;

  std::string target_;
  KernelCache cache_;
};

}  // namespace lowtide
