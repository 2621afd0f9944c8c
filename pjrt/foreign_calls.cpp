#include "foreign_calls.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "foreign_attributes.h"
#include "foreign_context.h"
#include "lowtide/visibility.h"

namespace lowtide::pjrt {
namespace {

/// The size that handlers expect, without the field that they may set.
constexpr size_t kCallBytes = sizeof(XLA_FFI_Call) - sizeof(XLA_FFI_Future*);

/// A target with one set of attributes.
struct Site {
  explicit Site(ForeignAttributes read) : attributes(std::move(read)) {}
  ForeignAttributes attributes;
  std::mutex mutex;  ///< held during instantiation
  bool is_instantiated = false;
  ForeignStates states;
};

struct Target {
  Target(std::string called, const ForeignHandlers& given) : name(std::move(called)), handlers(given) {}
  std::string name;
  ForeignHandlers handlers;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Site>, std::less<>> sites;  ///< by the text of their attributes
};

struct Targets {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Target>, std::less<>> all;
};

/// Never destroyed, since runs may outlive static objects.
Targets& targets() {
  static Targets& all = *new Targets;
  return all;
}

ErrorKind kind_of(XLA_FFI_Code code) {
  constexpr XLA_FFI_Code kInvalid = 3, kExhausted = 8, kUnimplemented = 12;
  if (code == kInvalid) return ErrorKind::kInput;
  if (code == kExhausted) return ErrorKind::kLimit;
  return code == kUnimplemented ? ErrorKind::kUnsupported : ErrorKind::kInternal;
}

/// The arrays of a call, as handlers see them.
struct Buffers {
  std::vector<XLA_FFI_Buffer> all;
  std::vector<int> kinds;
  std::vector<void*> pointers;

  template <class Arrays>
  Result<void> take(const Arrays& arrays) {
    for (const auto& array : arrays) {
      const XLA_FFI_Type type = foreign_type(array.type);
      if (type == 0) return Error{ErrorKind::kUnsupported, "foreign functions have no type " + std::string(array.type)};
      all.push_back({{sizeof(XLA_FFI_Buffer), nullptr},
                     type,
                     const_cast<void*>(static_cast<const void*>(array.data)),
                     static_cast<int64_t>(array.dims.size()),
                     array.dims.data()});
    }
    kinds.assign(all.size(), XLA_FFI_Buffers::kBuffer);
    for (XLA_FFI_Buffer& buffer : all) pointers.push_back(&buffer);
    return {};
  }
  XLA_FFI_Buffers said() {
    return {{sizeof(XLA_FFI_Buffers), nullptr}, static_cast<int64_t>(all.size()), kinds.data(), pointers.data()};
  }
};

/// Waits for the handler's asynchronous work, and takes its error.
std::unique_ptr<XLA_FFI_Error> wait(XLA_FFI_Future* future) {
  const std::unique_ptr<XLA_FFI_Future> owned(future);
  std::unique_lock lock(owned->mutex);
  owned->changed.wait(lock, [&] { return owned->is_done; });
  return std::move(owned->error);
}

/// Joins all tasks, including those that tasks start.
void join_tasks(XLA_FFI_ExecutionContext& context) {
  while (true) {
    std::vector<std::thread> tasks;
    {
      const std::lock_guard lock(context.mutex);
      tasks.swap(context.tasks);
    }
    if (tasks.empty()) return;
    for (std::thread& task : tasks) task.join();
  }
}

Result<void> call_stage(const Target& target, XLA_FFI_Handler handler, XLA_FFI_Stage stage, Site& site,
                        Buffers& arguments, Buffers& results, XLA_FFI_ExecutionContext& context) {
  if (!handler) return {};
  XLA_FFI_Call call = {{kCallBytes, nullptr}, &foreign_api(),        &context, stage, arguments.said(),
                       results.said(),        site.attributes.all(), nullptr};
  std::unique_ptr<XLA_FFI_Error> error(handler(&call));
  if (!error && call.future) error = wait(call.future);
  join_tasks(context);
  if (!error) return {};
  return Error{kind_of(error->code), target.name + ": " + error->message};
}

Result<Site*> site_of(Target& target, std::string_view config) {
  const std::lock_guard lock(target.mutex);
  auto found = target.sites.find(config);
  if (found == target.sites.end()) {
    Result<ForeignAttributes> read = ForeignAttributes::parse(config);
    if (!read.ok()) return Error{read.error().kind, target.name + ": " + read.error().message};
    found = target.sites.emplace(config, std::make_unique<Site>(std::move(read).value())).first;
  }
  return found->second.get();
}

Result<void> call_foreign(Target& target, const HostCall& call) {
  static std::atomic<int64_t> runs = 0;
  const Result<Site*> site = site_of(target, call.config);
  if (!site.ok()) return site.error();
  XLA_FFI_ExecutionContext context;
  context.run = ++runs;
  {
    const std::lock_guard lock((*site)->mutex);
    if (!(*site)->is_instantiated) {
      Buffers none, nothing;
      context.states = &(*site)->states;
      const auto made = call_stage(target, target.handlers.instantiate, kInstantiate, **site, none, nothing, context);
      if (!made.ok()) return made;
      (*site)->is_instantiated = true;
    }
  }
  ForeignStates states = (*site)->states;  // this run's own states, which it may set
  context.states = &states;
  Buffers arguments, results;
  if (const auto taken = arguments.take(call.operands); !taken.ok()) return taken;
  if (const auto taken = results.take(call.results); !taken.ok()) return taken;
  const ForeignHandlers& of = target.handlers;
  for (const auto& [handler, stage] :
       {std::pair(of.prepare, kPrepare), std::pair(of.initialize, kInitialize), std::pair(of.execute, kExecute)}) {
    if (const auto done = call_stage(target, handler, stage, **site, arguments, results, context); !done.ok())
      return done;
  }
  return {};
}

/// Checks the version of the header with which the handler was compiled.
Result<void> check_version(const std::string& target, XLA_FFI_Handler handler) {
  XLA_FFI_Metadata metadata = {};
  metadata.struct_size = sizeof metadata;
  metadata.version.struct_size = sizeof metadata.version;
  XLA_FFI_Metadata_Extension extension = {};
  extension.struct_size = sizeof extension;
  extension.type = XLA_FFI_Extension::kMetadata;
  extension.metadata = &metadata;
  XLA_FFI_Call call = {};
  call.struct_size = kCallBytes;
  call.extension_start = &extension;
  call.api = &foreign_api();
  if (const std::unique_ptr<XLA_FFI_Error> error(handler(&call)); error) {
    return Error{ErrorKind::kInput, target + ": " + error->message};
  }
  if (metadata.version.major == kForeignMajor && metadata.version.minor <= kForeignMinor) return {};
  return Error{ErrorKind::kUnsupported, target + ": found version " + std::to_string(metadata.version.major) + "." +
                                            std::to_string(metadata.version.minor) +
                                            " of XLA's foreign functions, expected at most " +
                                            std::to_string(kForeignMajor) + "." + std::to_string(kForeignMinor)};
}

}  // namespace

Result<void> register_foreign(std::string target, const ForeignHandlers& handlers) {
  if (!handlers.execute) return Error{ErrorKind::kInput, target + ": found no handler that executes"};
  if (const auto checked = check_version(target, handlers.execute); !checked.ok()) return checked;
  auto made = std::make_shared<Target>(target, handlers);
  const std::lock_guard lock(targets().mutex);
  targets().all.insert_or_assign(std::move(target), std::move(made));
  return {};
}

HostFunction foreign_function(std::string_view target) {
  const std::lock_guard lock(targets().mutex);
  const auto found = targets().all.find(target);
  if (found == targets().all.end()) return {};
  return [called = found->second](const HostCall& call) { return call_foreign(*called, call); };
}

}  // namespace lowtide::pjrt

/// Registers a target's handlers; all but `execute` may be null. Returns 0, or else writes the reason to `why`,
/// truncated and terminated by zero.
extern "C" LOWTIDE_PUBLIC int lowtide_register_foreign(const char* target, void* instantiate, void* prepare,
                                                       void* initialize, void* execute, char* why, size_t bytes) {
  const auto handler = [](void* at) { return reinterpret_cast<XLA_FFI_Handler>(at); };
  std::string said;
  try {
    const auto done = lowtide::pjrt::register_foreign(
        target, {handler(instantiate), handler(prepare), handler(initialize), handler(execute)});
    if (done.ok()) return 0;
    said = done.error().message;
  } catch (const std::exception& thrown) {
    said = thrown.what();
  }
  if (bytes > 0) why[said.copy(why, bytes - 1)] = '\0';
  return 1;
}
