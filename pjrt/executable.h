#pragma once
/// A compiled program: what it is, and what hosts ask of it.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "client.h"
#include "compile_options.h"
#include "host_callbacks.h"
#include "in_place.h"
#include "layouts.h"
#include "lowtide/session.h"

namespace lowtide::pjrt {

/// By array how it is divided over the devices, serialised.
struct Shardings {
  std::vector<std::string> own;
  std::vector<const char*> texts;
  std::vector<size_t> sizes;
};

struct Compiled {
  std::vector<PJRT_Device*> devices;  ///< each runs all of it, on arrays of its own
  std::vector<PJRT_LogicalDeviceIds> logical_ids;
  std::string program, options;  ///< as they were given
  CompileOptions read_options;
  Plan plan;
  Executable executable;
  std::shared_ptr<InPlace> in_place;  ///< null: it never runs so
  HeldCallbacks callbacks;
  std::vector<HostCallSite> host_calls;
  bool is_repeated = false;  ///< on each device all of it, which isn't a part of anything
  bool is_quick = false;     ///< it takes less than handing it to another thread
  std::string name, fingerprint, assignment;

  // What is handed out as pointers into it.
  std::vector<PJRT_Buffer_Type> result_types;
  std::vector<std::vector<int64_t>> result_dims;
  std::vector<int64_t> all_dims;   ///< of all results, one after another
  std::vector<size_t> ranks;       ///< of each result
  std::vector<const char*> kinds;  ///< of memory, for arguments or results, whichever are more
  std::vector<size_t> kind_sizes;
  Shardings parameter_shardings, result_shardings;
  std::vector<PJRT_NamedValue> costs;
  std::vector<PJRT_Layouts_MemoryLayout*> parameter_layouts, result_layouts;
};

}  // namespace lowtide::pjrt

struct PJRT_Executable {
  void* functions = nullptr;
  std::shared_ptr<const lowtide::pjrt::Compiled> compiled;
};

struct PJRT_LoadedExecutable {
  void* functions = nullptr;
  std::shared_ptr<const lowtide::pjrt::Compiled> compiled;
  std::atomic<bool> deleted = false;
};
