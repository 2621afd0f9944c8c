// The function table for hosts; its functions turn exceptions into errors.
#include <array>
#include <string>

#include "error.h"
#include "functions.h"
#include "layouts.h"
#include "lowtide/visibility.h"
#include "shardings.h"

namespace lowtide::pjrt {
namespace {

constexpr size_t kPadding = alignof(size_t) - 1;  // after the last field; not part of the size that callers state
/// The least struct size that a caller must state: other versions of PJRT have fewer or more fields at the end.
template <class Args>
constexpr size_t kNeeded = sizeof(Args) - kPadding;
constexpr size_t kField = sizeof(void*);
template <>
constexpr size_t kNeeded<PJRT_Client_Create_Args> = sizeof(PJRT_Client_Create_Args) - 2 * kField;
template <>
constexpr size_t kNeeded<PJRT_Client_CreateViewOfDeviceBuffer_Args> =
    sizeof(PJRT_Client_CreateViewOfDeviceBuffer_Args) - kField;
template <>
constexpr size_t kNeeded<PJRT_Executable_DeserializeAndLoad_Args> =
    sizeof(PJRT_Executable_DeserializeAndLoad_Args) - 3 * kField;

template <auto kFunction, class Args>
PJRT_Error* answer(Args* args) noexcept {
  try {
    if (args->struct_size < kNeeded<Args>) {
      return invalid("found arguments of " + std::to_string(args->struct_size) + " bytes, expected " +
                     std::to_string(kNeeded<Args>) + ": PJRT of another version");
    }
    return kFunction(*args);
  } catch (...) {
    return error_of(fault_of_exception());
  }
}

constexpr std::array kNames = {
#define PJRT_FUNCTION(name) "PJRT_" #name,
#define PJRT_ABSENT(name) "PJRT_" #name,
#include "functions.def"
#undef PJRT_FUNCTION
#undef PJRT_ABSENT
};

template <size_t kSlot>
PJRT_Error* say_absent(void*) noexcept {
  return unimplemented(std::string(kNames[kSlot]) + " is not implemented by Lowtide");
}

/// The number of a function in the table.
enum Slot : size_t {
#define PJRT_FUNCTION(name) kSlot_##name,
#define PJRT_ABSENT(name) kSlot_##name,
#include "functions.def"
#undef PJRT_FUNCTION
#undef PJRT_ABSENT
  kSlots
};
static_assert(kSlots == sizeof(PJRT_Api::functions) / sizeof(void*));

PJRT_Shardings_Extension make_shardings() {
  PJRT_Shardings_Extension shardings = {};
  shardings.struct_size = sizeof shardings;
  shardings.type = PJRT_Shardings_Extension::kType;
  size_t next = 0;
#define SHARDINGS_FUNCTION(name) \
  shardings.functions[next++] = reinterpret_cast<void*>(&answer<&name, PJRT_Shardings_##name##_Args>);
  SHARDINGS_FUNCTION(Executable_ParameterShardings)
  SHARDINGS_FUNCTION(Executable_OutputShardings)
#undef SHARDINGS_FUNCTION
  return shardings;
}

PJRT_Layouts_Extension make_layouts() {
  PJRT_Layouts_Extension layouts = {};
  layouts.struct_size = sizeof layouts;
  layouts.type = PJRT_Layouts_Extension::kType;
  size_t next = 0;
#define LAYOUTS_FUNCTION(name) \
  layouts.functions[next++] = reinterpret_cast<void*>(&answer<&name, PJRT_Layouts_##name##_Args>);
  LAYOUTS_FUNCTION(MemoryLayout_Destroy)
  LAYOUTS_FUNCTION(MemoryLayout_Serialize)
  LAYOUTS_FUNCTION(Client_GetDefaultLayout)
  LAYOUTS_FUNCTION(Buffer_MemoryLayout)
  LAYOUTS_FUNCTION(Topology_GetDefaultLayout)
  LAYOUTS_FUNCTION(Executable_GetOutputLayouts)
  LAYOUTS_FUNCTION(Executable_GetParameterLayouts)
#undef LAYOUTS_FUNCTION
  return layouts;
}

PJRT_Api make_api() {
  PJRT_Api api = {};
  api.struct_size = sizeof(PJRT_Api);
  static PJRT_Shardings_Extension shardings = make_shardings();
  static PJRT_Layouts_Extension layouts = make_layouts();
  layouts.next = &shardings;
  api.extension_start = &layouts;
  api.version = {sizeof api.version, nullptr, kPjrtMajor, kPjrtMinor};
#define PJRT_FUNCTION(name) api.functions[kSlot_##name] = reinterpret_cast<void*>(&answer<&name, PJRT_##name##_Args>);
#define PJRT_ABSENT(name) api.functions[kSlot_##name] = reinterpret_cast<void*>(&say_absent<kSlot_##name>);
#include "functions.def"
#undef PJRT_FUNCTION
#undef PJRT_ABSENT
  return api;
}

}  // namespace
}  // namespace lowtide::pjrt

extern "C" LOWTIDE_PUBLIC const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api kApi = lowtide::pjrt::make_api();
  return &kApi;
}
