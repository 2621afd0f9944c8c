#pragma once
/// PJRT's C interface (https://openxla.org/xla/pjrt), version 0.112, as in jaxlib 0.10.2: the structures that both
/// sides exchange, declared after the published layouts. Only functions that this plugin implements are declared; the
/// others are slots.

#include <cstddef>
#include <cstdint>

struct PJRT_Error;
struct PJRT_Event;
struct PJRT_Client;
struct PJRT_Device;
struct PJRT_DeviceDescription;
struct PJRT_Memory;
struct PJRT_Buffer;
struct PJRT_Executable;
struct PJRT_LoadedExecutable;
struct PJRT_TopologyDescription;

inline constexpr int kPjrtMajor = 0, kPjrtMinor = 112;

enum PJRT_Error_Code : uint32_t {
  PJRT_Error_Code_CANCELLED = 1,
  PJRT_Error_Code_UNKNOWN = 2,
  PJRT_Error_Code_INVALID_ARGUMENT = 3,
  PJRT_Error_Code_NOT_FOUND = 5,
  PJRT_Error_Code_RESOURCE_EXHAUSTED = 8,
  PJRT_Error_Code_FAILED_PRECONDITION = 9,
  PJRT_Error_Code_UNIMPLEMENTED = 12,
  PJRT_Error_Code_INTERNAL = 13,
};

/// Element types; their numbers differ from HLO's.
using PJRT_Buffer_Type = uint32_t;

enum PJRT_HostBufferSemantics : uint32_t {
  kImmutableOnlyDuringCall = 0,
  kImmutableUntilTransferCompletes = 1,
  kImmutableZeroCopy = 2,
  kMutableZeroCopy = 3,
};

/// The beginning of every structure: its size without trailing padding, and an extension or null.
struct PJRT_Args {
  size_t struct_size;
  void* extension_start;
};

struct PJRT_NamedValue : PJRT_Args {
  enum Type : uint32_t { kString = 0, kInt64 = 1, kInt64List = 2, kFloat = 3, kBool = 4 };
  const char* name;
  size_t name_size;
  Type type;
  union {
    const char* string_value;
    int64_t int64_value;
    const int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size;  ///< 1 if it isn't a list
};

struct PJRT_Program : PJRT_Args {
  char* code;
  size_t code_size;
  const char* format;
  size_t format_size;
};

struct PJRT_Buffer_MemoryLayout_Tiled : PJRT_Args {
  const int64_t* minor_to_major;
  size_t minor_to_major_size;
  const int64_t* tile_dims;
  const size_t* tile_dim_sizes;
  size_t num_tiles;
};
struct PJRT_Buffer_MemoryLayout_Strides : PJRT_Args {
  const int64_t* byte_strides;
  size_t num_byte_strides;
};
struct PJRT_Buffer_MemoryLayout : PJRT_Args {
  enum Type : uint32_t { kTiled = 0, kStrides = 1 };
  union {
    PJRT_Buffer_MemoryLayout_Tiled tiled;
    PJRT_Buffer_MemoryLayout_Strides strides;
  };
  Type type;
};

struct PJRT_LogicalDeviceIds {
  int replica, partition;
};

struct PJRT_ExecuteOptions : PJRT_Args {
  void* send_callbacks;
  void* recv_callbacks;
  size_t num_send_ops, num_recv_ops;
  int launch_id;
  const int64_t* non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
  void* context;
};

using PJRT_OnReady = void (*)(PJRT_Error* error, void* user_arg);
using PJRT_OnDelete = void (*)(void* device_buffer, void* user_arg);
using PJRT_Deleter = void (*)(void* holder);

struct PJRT_Extension_Base {
  size_t struct_size;
  int type;
  PJRT_Extension_Base* next;
};

/// The table that GetPjrtApi returns: functions in the order of functions.def.
struct PJRT_Api {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  struct {
    size_t struct_size;
    void* extension_start;
    int major, minor;
  } version;
  void* functions[138];
};
static_assert(sizeof(PJRT_Api) == 1144);
static_assert(sizeof(PJRT_NamedValue) == 56 && sizeof(PJRT_Program) == 48 && sizeof(PJRT_Buffer_MemoryLayout) == 80);
