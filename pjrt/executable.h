#pragma once
/// A compiled program, and the properties that hosts ask for.

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client.h"
#include "compile_options.h"
#include "host_callbacks.h"
#include "in_place.h"
#include "layouts.h"
#include "lowtide/session.h"

namespace lowtide::pjrt {

/// For each array, how it is divided over the devices, serialised.
struct Shardings {
  std::vector<std::string> own;
  std::vector<const char*> texts;
  std::vector<size_t> sizes;
};

/// For each array, the kind of memory in which the program has it.
struct MemoryKinds {
  std::vector<std::string_view> own;  ///< names of the first device's memories
  std::vector<const char*> texts;
  std::vector<size_t> sizes;
};

/// A program as hosts write it and get it back. format: "mlir", bytecode or text, or "hlo_with_config", a protobuf.
struct Program {
  std::string format, bytes;
};

struct Compiled {
  std::vector<PJRT_Device*> devices;  ///< each runs the whole program, on its own arrays
  std::vector<PJRT_LogicalDeviceIds> logical_ids;
  Program program;      ///< the original
  std::string options;  ///< as they were given
  CompileOptions read_options;
  Plan plan;
  Executable executable;
  std::shared_ptr<InPlace> in_place;  ///< null if it never runs in place
  HeldCallbacks callbacks;
  std::vector<HostCallSite> host_calls;
  bool is_repeated = false;  ///< every device runs the whole program (replicated)
  bool is_quick = false;     ///< it takes less time than passing it to another thread
  std::string name, fingerprint, assignment;

  // Data to which hosts get pointers.
  std::vector<PJRT_Buffer_Type> result_types;
  std::vector<std::vector<int64_t>> result_dims;
  std::vector<int64_t> all_dims;  ///< of all results, concatenated
  std::vector<size_t> ranks;      ///< of each result
  MemoryKinds parameter_memory, result_memory;
  Shardings parameter_shardings, result_shardings;
  std::vector<PJRT_NamedValue> costs;
  std::vector<Layout*> parameter_layouts, result_layouts;
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
