#pragma once
/// XLA's foreign functions (jax.ffi), C interface 0.4: the structures that a handler in a user's library and the
/// runtime that calls it exchange, declared after the published layouts.

#include <cstddef>
#include <cstdint>

struct XLA_FFI_Error;
struct XLA_FFI_ExecutionContext;
struct XLA_FFI_Future;
struct XLA_FFI_Api;

inline constexpr int kForeignMajor = 0, kForeignMinor = 4;

struct XLA_FFI_Extension {
  static constexpr int kMetadata = 1;
  size_t struct_size;
  int type;
  XLA_FFI_Extension* next;
};

/// The beginning of every structure: its size without trailing padding, and an extension or null.
struct XLA_FFI_Part {
  size_t struct_size;
  XLA_FFI_Extension* extension_start;
};

struct XLA_FFI_Version : XLA_FFI_Part {
  int major, minor;
};

/// Element types, by XLA's numbers.
using XLA_FFI_Type = int;
/// 0 to 16, as in absl.
using XLA_FFI_Code = int;

struct XLA_FFI_Buffer : XLA_FFI_Part {
  XLA_FFI_Type type;
  void* data;
  int64_t rank;
  const int64_t* dims;
};
struct XLA_FFI_Span {
  const char* data;
  size_t size;
};
struct XLA_FFI_Scalar {
  XLA_FFI_Type type;
  void* value;
};
struct XLA_FFI_Array {
  XLA_FFI_Type type;
  size_t size;
  void* data;
};

/// Arguments or results: pointers to XLA_FFI_Buffer, each of kind 1.
struct XLA_FFI_Buffers : XLA_FFI_Part {
  static constexpr int kBuffer = 1;
  int64_t size;
  int* kinds;
  void** buffers;
};
struct XLA_FFI_Attributes : XLA_FFI_Part {
  enum Kind : int { kArray = 1, kDictionary = 2, kScalar = 3, kString = 4 };
  int64_t size;
  int* kinds;
  XLA_FFI_Span** names;
  void** values;
};

enum XLA_FFI_Stage : int { kInstantiate = 0, kPrepare = 1, kInitialize = 2, kExecute = 3 };

struct XLA_FFI_Call : XLA_FFI_Part {
  const XLA_FFI_Api* api;
  XLA_FFI_ExecutionContext* context;
  XLA_FFI_Stage stage;
  XLA_FFI_Buffers arguments;
  XLA_FFI_Buffers results;
  XLA_FFI_Attributes attributes;
  XLA_FFI_Future* future;  ///< set by a handler that continues after it has returned
};
using XLA_FFI_Handler = XLA_FFI_Error* (*)(XLA_FFI_Call* call);

struct XLA_FFI_Type_Id {
  int64_t number;
};

/// A handler's own description, which it gives when it is called with this extension.
struct XLA_FFI_Metadata {
  size_t struct_size;
  XLA_FFI_Version version;
  uint32_t traits;
  XLA_FFI_Type_Id state_type;
};
struct XLA_FFI_Metadata_Extension : XLA_FFI_Extension {
  XLA_FFI_Metadata* metadata;
};

struct XLA_FFI_Error_Create_Args : XLA_FFI_Part {
  const char* message;
  XLA_FFI_Code code;
};
struct XLA_FFI_Error_GetDetails_Args : XLA_FFI_Part {
  XLA_FFI_Error* error;
  const char* message;
  XLA_FFI_Code code;  ///< since 0.4
};
struct XLA_FFI_Error_Destroy_Args : XLA_FFI_Part {
  XLA_FFI_Error* error;
};
struct XLA_FFI_Type_Register_Args : XLA_FFI_Part {
  XLA_FFI_Span name;
  XLA_FFI_Type_Id* type;
  const void* information;
};
struct XLA_FFI_State_Args : XLA_FFI_Part {
  XLA_FFI_ExecutionContext* context;
  XLA_FFI_Stage stage;
  XLA_FFI_Type_Id* type;
  void* state;
};
struct XLA_FFI_DeviceMemory_Allocate_Args : XLA_FFI_Part {
  XLA_FFI_ExecutionContext* context;
  size_t size, alignment;
  void* data;
};
struct XLA_FFI_DeviceMemory_Free_Args : XLA_FFI_Part {
  XLA_FFI_ExecutionContext* context;
  size_t size;
  void* data;
};
struct XLA_FFI_ThreadPool_Schedule_Args : XLA_FFI_Part {
  XLA_FFI_ExecutionContext* context;
  void (*task)(void* data);
  void* data;
};
struct XLA_FFI_ThreadPool_NumThreads_Args : XLA_FFI_Part {
  XLA_FFI_ExecutionContext* context;
  int64_t* threads;
};
struct XLA_FFI_Future_Create_Args : XLA_FFI_Part {
  XLA_FFI_Future* future;
};
struct XLA_FFI_Future_SetAvailable_Args : XLA_FFI_Part {
  XLA_FFI_Future* future;
};
struct XLA_FFI_Future_SetError_Args : XLA_FFI_Part {
  XLA_FFI_Future* future;
  XLA_FFI_Error* error;
};
struct XLA_FFI_RunId_Get_Args : XLA_FFI_Part {
  XLA_FFI_ExecutionContext* context;
  int64_t run_id;
};
struct XLA_FFI_DeviceOrdinal_Get_Args : XLA_FFI_Part {
  XLA_FFI_ExecutionContext* context;
  int32_t ordinal;
};
/// The runtime's own data for handlers, by type. There are none here.
struct XLA_FFI_FindExtension_Args : XLA_FFI_Part {
  XLA_FFI_ExecutionContext* context;
  int64_t type;
  const void* extension;
};

struct XLA_FFI_Api : XLA_FFI_Part {
  XLA_FFI_Version version;
  const void* internal;  ///< for handlers linked with XLA; none here
  XLA_FFI_Error* (*error_create)(XLA_FFI_Error_Create_Args*);
  void (*error_details)(XLA_FFI_Error_GetDetails_Args*);
  void (*error_destroy)(XLA_FFI_Error_Destroy_Args*);
  XLA_FFI_Error* (*handler_register)(XLA_FFI_Part*);
  XLA_FFI_Error* (*stream_get)(XLA_FFI_Part*);
  XLA_FFI_Error* (*type_register)(XLA_FFI_Type_Register_Args*);
  XLA_FFI_Error* (*context_get)(XLA_FFI_Part*);
  XLA_FFI_Error* (*state_set)(XLA_FFI_State_Args*);
  XLA_FFI_Error* (*state_get)(XLA_FFI_State_Args*);
  XLA_FFI_Error* (*memory_allocate)(XLA_FFI_DeviceMemory_Allocate_Args*);
  XLA_FFI_Error* (*memory_free)(XLA_FFI_DeviceMemory_Free_Args*);
  XLA_FFI_Error* (*pool_schedule)(XLA_FFI_ThreadPool_Schedule_Args*);
  XLA_FFI_Error* (*pool_threads)(XLA_FFI_ThreadPool_NumThreads_Args*);
  XLA_FFI_Error* (*future_create)(XLA_FFI_Future_Create_Args*);
  XLA_FFI_Error* (*future_set)(XLA_FFI_Future_SetAvailable_Args*);
  XLA_FFI_Error* (*future_fail)(XLA_FFI_Future_SetError_Args*);
  XLA_FFI_Error* (*run_id)(XLA_FFI_RunId_Get_Args*);
  XLA_FFI_Error* (*device_ordinal)(XLA_FFI_DeviceOrdinal_Get_Args*);
  XLA_FFI_Error* (*find_extension)(XLA_FFI_FindExtension_Args*);
};
static_assert(sizeof(XLA_FFI_Call) == 176 && sizeof(XLA_FFI_Buffer) == 48 && sizeof(XLA_FFI_Metadata) == 48);
static_assert(sizeof(XLA_FFI_Api) == 200);
