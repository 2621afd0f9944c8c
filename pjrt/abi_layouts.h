#pragma once
/// PJRT's layouts extension: the order of arrays' dimensions in memory, as text for the host ("{1,0}").

#include "abi.h"

struct PJRT_Layouts_MemoryLayout;

struct PJRT_Layouts_Extension : PJRT_Extension_Base {
  static constexpr int kType = 4;
  /// In the order of the structures below.
  void* functions[7];
};
static_assert(sizeof(PJRT_Layouts_Extension) == 80);

struct PJRT_Layouts_MemoryLayout_Destroy_Args : PJRT_Args {
  PJRT_Layouts_MemoryLayout* layout;
};
struct PJRT_Layouts_MemoryLayout_Serialize_Args : PJRT_Args {
  PJRT_Layouts_MemoryLayout* layout;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  void* serialized_layout;
  PJRT_Deleter serialized_layout_deleter;
};
struct PJRT_Layouts_Client_GetDefaultLayout_Args : PJRT_Args {
  PJRT_Client* client;
  PJRT_Buffer_Type type;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Layouts_MemoryLayout* layout;
};
struct PJRT_Layouts_Buffer_MemoryLayout_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  PJRT_Layouts_MemoryLayout* layout;
};
struct PJRT_Layouts_Topology_GetDefaultLayout_Args : PJRT_Args {
  PJRT_TopologyDescription* topology;
  PJRT_Buffer_Type type;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Layouts_MemoryLayout* layout;
};
struct PJRT_Layouts_Executable_GetOutputLayouts_Args : PJRT_Args {
  PJRT_Executable* executable;
  size_t num_outputs;
  PJRT_Layouts_MemoryLayout* const* layouts;
};
struct PJRT_Layouts_Executable_GetParameterLayouts_Args : PJRT_Args {
  PJRT_Executable* executable;
  size_t num_parameters;
  PJRT_Layouts_MemoryLayout* const* layouts;
};
