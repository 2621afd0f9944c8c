#include "codegen/kernel_store.h"

#include <bit>

#include "codegen/llvm_entry.h"
#include "codegen/object_loader.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;  ///< of objects that are loaded at once
/// A sweep reads the whole directory, so only one new object in this many triggers it.
constexpr uint64_t kObjectsPerSweep = 64;

}  // namespace

KernelStore::KernelStore(const Context& context)
    : disk_(context.is_debugging() || build_id().empty() ? "" : context.settings().cache_directory,
            to_text(context.settings().choices), context.settings().cache_bytes) {
  if (!disk_.refusal().empty()) context.print("warning: " + disk_.refusal());
}

std::optional<Kernel> KernelStore::find(TextHash key) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = loaded_.find(key); found != loaded_.end()) return found->second;
  }
  const auto object = disk_.find(key);
  if (!object) return {};
  auto kernel = load_kernel(key, *object);
  if (!kernel.ok()) return {};
  remember(key, *kernel, object->size());
  return kernel.take();
}

Result<Kernel> KernelStore::add(TextHash key, std::string_view object, OpenFiles* files) {
  LT_ASSIGN_OR_RETURN(Kernel kernel, load_kernel(key, object));
  remember(key, kernel, object.size());
  disk_.store(key, object, files);
  if (key.low % kObjectsPerSweep == 0) disk_.drop_oldest();
  return kernel;
}

bool KernelStore::was_met(TextHash key) {
  constexpr size_t kMostMet = size_t{1} << 16;
  const std::lock_guard lock(mutex_);
  if (met_.size() > kMostMet) met_.clear();
  return !met_.insert(key).second;
}

void KernelStore::remember(TextHash key, const Kernel& kernel, size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes > kMostBytes) loaded_.clear(), bytes_ = 0;
  loaded_.emplace(key, kernel);
  bytes_ += bytes;
}

Result<Kernel> load_kernel(TextHash key, std::string_view object) {
  LT_ASSIGN_OR_RETURN(const LoadedObject code, load_object(object, kKernelSymbol));
  const auto run = std::bit_cast<KernelFunction>(code.symbol);
  return Kernel{.run = run, .pieces = {}, .code = code.pages, .skips = {}, .given = {}, .key = key};
}

}  // namespace lowtide::engine
