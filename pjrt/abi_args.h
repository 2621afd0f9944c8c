#pragma once
/// Arguments and results of each PJRT function that this plugin implements; both are in the same structure.

#include "abi.h"

struct PJRT_Error_Destroy_Args : PJRT_Args {
  PJRT_Error* error;
};
struct PJRT_Error_Message_Args : PJRT_Args {
  PJRT_Error* error;
  const char* message;
  size_t message_size;
};
struct PJRT_Error_GetCode_Args : PJRT_Args {
  PJRT_Error* error;
  PJRT_Error_Code code;
};
struct PJRT_Error_ForEachPayload_Args : PJRT_Args {
  PJRT_Error* error;
  void* visitor;
  void* user_arg;
};
struct PJRT_Plugin_Initialize_Args : PJRT_Args {};
struct PJRT_Plugin_Attributes_Args : PJRT_Args {
  const PJRT_NamedValue* attributes;
  size_t num_attributes;
};
struct PJRT_Event_Destroy_Args : PJRT_Args {
  PJRT_Event* event;
};
struct PJRT_Event_IsReady_Args : PJRT_Args {
  PJRT_Event* event;
  bool is_ready;
};
struct PJRT_Event_Error_Args : PJRT_Args {
  PJRT_Event* event;
};
struct PJRT_Event_Await_Args : PJRT_Args {
  PJRT_Event* event;
};
struct PJRT_Event_OnReady_Args : PJRT_Args {
  PJRT_Event* event;
  PJRT_OnReady callback;
  void* user_arg;
};
struct PJRT_Event_Create_Args : PJRT_Args {
  PJRT_Event* event;
};
struct PJRT_Event_Set_Args : PJRT_Args {
  PJRT_Event* event;
  PJRT_Error_Code error_code;
  const char* error_message;
  size_t error_message_size;
};
struct PJRT_Client_Create_Args : PJRT_Args {
  const PJRT_NamedValue* create_options;
  size_t num_options;
  void* kv_get_callback;
  void* kv_get_user_arg;
  void* kv_put_callback;
  void* kv_put_user_arg;
  PJRT_Client* client;
  void* kv_try_get_callback;
  void* kv_try_get_user_arg;
};
struct PJRT_Client_Destroy_Args : PJRT_Args {
  PJRT_Client* client;
};
struct PJRT_Client_PlatformName_Args : PJRT_Args {
  PJRT_Client* client;
  const char* platform_name;
  size_t platform_name_size;
};
struct PJRT_Client_ProcessIndex_Args : PJRT_Args {
  PJRT_Client* client;
  int32_t process_index;
};
struct PJRT_Client_PlatformVersion_Args : PJRT_Args {
  PJRT_Client* client;
  const char* platform_version;
  size_t platform_version_size;
};
struct PJRT_Client_Devices_Args : PJRT_Args {
  PJRT_Client* client;
  PJRT_Device* const* devices;
  size_t num_devices;
};
struct PJRT_Client_AddressableDevices_Args : PJRT_Args {
  PJRT_Client* client;
  PJRT_Device* const* addressable_devices;
  size_t num_addressable_devices;
};
struct PJRT_Client_LookupDevice_Args : PJRT_Args {
  PJRT_Client* client;
  int32_t id;
  PJRT_Device* device;
};
struct PJRT_Client_LookupAddressableDevice_Args : PJRT_Args {
  PJRT_Client* client;
  int32_t local_hardware_id;
  PJRT_Device* addressable_device;
};
struct PJRT_Client_AddressableMemories_Args : PJRT_Args {
  PJRT_Client* client;
  PJRT_Memory* const* addressable_memories;
  size_t num_addressable_memories;
};
struct PJRT_Client_Compile_Args : PJRT_Args {
  PJRT_Client* client;
  const PJRT_Program* program;
  const char* compile_options;
  size_t compile_options_size;
  PJRT_LoadedExecutable* executable;
};
struct PJRT_Client_DefaultDeviceAssignment_Args : PJRT_Args {
  PJRT_Client* client;
  int32_t num_replicas, num_partitions;
  size_t default_assignment_size;
  int* default_assignment;
};
struct PJRT_Client_BufferFromHostBuffer_Args : PJRT_Args {
  PJRT_Client* client;
  const void* data;
  PJRT_Buffer_Type type;
  const int64_t* dims;
  size_t num_dims;
  const int64_t* byte_strides;
  size_t num_byte_strides;
  uint32_t host_buffer_semantics;
  PJRT_Device* device;
  PJRT_Memory* memory;
  PJRT_Buffer_MemoryLayout* device_layout;
  PJRT_Event* done_with_host_buffer;
  PJRT_Buffer* buffer;
};
struct PJRT_Client_CreateViewOfDeviceBuffer_Args : PJRT_Args {
  PJRT_Client* client;
  void* device_buffer_ptr;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Buffer_Type element_type;
  PJRT_Buffer_MemoryLayout* layout;
  PJRT_Device* device;
  PJRT_OnDelete on_delete_callback;
  void* on_delete_callback_arg;
  int64_t stream;
  PJRT_Buffer* buffer;
  PJRT_Memory* memory;
};
struct PJRT_Client_CreateUninitializedBuffer_Args : PJRT_Args {
  PJRT_Client* client;
  const int64_t* shape_dims;
  size_t shape_num_dims;
  PJRT_Buffer_Type shape_element_type;
  PJRT_Buffer_MemoryLayout* shape_layout;
  PJRT_Device* device;
  PJRT_Memory* memory;
  PJRT_Buffer* buffer;
};
struct PJRT_Client_TopologyDescription_Args : PJRT_Args {
  PJRT_Client* client;
  PJRT_TopologyDescription* topology;
};
struct PJRT_DeviceDescription_Id_Args : PJRT_Args {
  PJRT_DeviceDescription* device_description;
  int32_t id;
};
struct PJRT_DeviceDescription_ProcessIndex_Args : PJRT_Args {
  PJRT_DeviceDescription* device_description;
  int32_t process_index;
};
struct PJRT_DeviceDescription_Attributes_Args : PJRT_Args {
  PJRT_DeviceDescription* device_description;
  size_t num_attributes;
  const PJRT_NamedValue* attributes;
};
struct PJRT_DeviceDescription_Kind_Args : PJRT_Args {
  PJRT_DeviceDescription* device_description;
  const char* device_kind;
  size_t device_kind_size;
};
struct PJRT_DeviceDescription_DebugString_Args : PJRT_Args {
  PJRT_DeviceDescription* device_description;
  const char* debug_string;
  size_t debug_string_size;
};
struct PJRT_DeviceDescription_ToString_Args : PJRT_Args {
  PJRT_DeviceDescription* device_description;
  const char* to_string;
  size_t to_string_size;
};
struct PJRT_Device_GetDescription_Args : PJRT_Args {
  PJRT_Device* device;
  PJRT_DeviceDescription* device_description;
};
struct PJRT_Device_IsAddressable_Args : PJRT_Args {
  PJRT_Device* device;
  bool is_addressable;
};
struct PJRT_Device_LocalHardwareId_Args : PJRT_Args {
  PJRT_Device* device;
  int32_t local_hardware_id;
};
struct PJRT_Device_AddressableMemories_Args : PJRT_Args {
  PJRT_Device* device;
  PJRT_Memory* const* memories;
  size_t num_memories;
};
struct PJRT_Device_DefaultMemory_Args : PJRT_Args {
  PJRT_Device* device;
  PJRT_Memory* memory;
};
struct PJRT_Device_MemoryStats_Args : PJRT_Args {
  PJRT_Device* device;
  int64_t bytes_in_use, peak_bytes_in_use;
  bool peak_bytes_in_use_is_set;
  int64_t num_allocs;
  bool num_allocs_is_set;
  int64_t largest_alloc_size;
  bool largest_alloc_size_is_set;
  int64_t bytes_limit;
  bool bytes_limit_is_set;
  int64_t bytes_reserved;
  bool bytes_reserved_is_set;
  int64_t peak_bytes_reserved;
  bool peak_bytes_reserved_is_set;
  int64_t bytes_reservable_limit;
  bool bytes_reservable_limit_is_set;
  int64_t largest_free_block_bytes;
  bool largest_free_block_bytes_is_set;
  int64_t pool_bytes;
  bool pool_bytes_is_set;
  int64_t peak_pool_bytes;
  bool peak_pool_bytes_is_set;
};
struct PJRT_Device_GetAttributes_Args : PJRT_Args {
  PJRT_Device* device;
  const PJRT_NamedValue* attributes;
  size_t num_attributes;
  void* device_attributes;
  PJRT_Deleter attributes_deleter;
};
struct PJRT_Memory_Id_Args : PJRT_Args {
  PJRT_Memory* memory;
  int32_t id;
};
struct PJRT_Memory_Kind_Args : PJRT_Args {
  PJRT_Memory* memory;
  const char* kind;
  size_t kind_size;
};
struct PJRT_Memory_Kind_Id_Args : PJRT_Args {
  PJRT_Memory* memory;
  int32_t kind_id;
};
struct PJRT_Memory_DebugString_Args : PJRT_Args {
  PJRT_Memory* memory;
  const char* debug_string;
  size_t debug_string_size;
};
struct PJRT_Memory_ToString_Args : PJRT_Args {
  PJRT_Memory* memory;
  const char* to_string;
  size_t to_string_size;
};
struct PJRT_Memory_AddressableByDevices_Args : PJRT_Args {
  PJRT_Memory* memory;
  PJRT_Device* const* devices;
  size_t num_devices;
};
struct PJRT_Executable_Destroy_Args : PJRT_Args {
  PJRT_Executable* executable;
};
struct PJRT_Executable_Name_Args : PJRT_Args {
  PJRT_Executable* executable;
  const char* executable_name;
  size_t executable_name_size;
};
struct PJRT_Executable_NumReplicas_Args : PJRT_Args {
  PJRT_Executable* executable;
  size_t num_replicas;
};
struct PJRT_Executable_NumPartitions_Args : PJRT_Args {
  PJRT_Executable* executable;
  size_t num_partitions;
};
struct PJRT_Executable_NumOutputs_Args : PJRT_Args {
  PJRT_Executable* executable;
  size_t num_outputs;
};
struct PJRT_Executable_SizeOfGeneratedCodeInBytes_Args : PJRT_Args {
  PJRT_Executable* executable;
  int64_t size_in_bytes;
};
struct PJRT_Executable_GetCostAnalysis_Args : PJRT_Args {
  PJRT_Executable* executable;
  size_t num_properties;
  const PJRT_NamedValue* properties;
};
struct PJRT_Executable_OutputMemoryKinds_Args : PJRT_Args {
  PJRT_Executable* executable;
  size_t num_outputs;
  const char* const* memory_kinds;
  const size_t* memory_kind_sizes;
};
struct PJRT_Executable_ParameterMemoryKinds_Args : PJRT_Args {
  PJRT_Executable* executable;
  size_t num_parameters;
  const char* const* memory_kinds;
  const size_t* memory_kind_sizes;
};
struct PJRT_Executable_OptimizedProgram_Args : PJRT_Args {
  PJRT_Executable* executable;
  PJRT_Program* program;
};
struct PJRT_Executable_Serialize_Args : PJRT_Args {
  PJRT_Executable* executable;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  void* serialized_executable;
  PJRT_Deleter serialized_executable_deleter;
};
struct PJRT_Executable_Fingerprint_Args : PJRT_Args {
  PJRT_Executable* executable;
  const char* executable_fingerprint;
  size_t executable_fingerprint_size;
};
struct PJRT_Executable_OutputElementTypes_Args : PJRT_Args {
  PJRT_Executable* executable;
  const PJRT_Buffer_Type* output_types;
  size_t num_output_types;
};
struct PJRT_Executable_OutputDimensions_Args : PJRT_Args {
  PJRT_Executable* executable;
  size_t num_outputs;
  const int64_t* dims;
  const size_t* dim_sizes;
};
struct PJRT_Executable_GetCompiledMemoryStats_Args : PJRT_Args {
  PJRT_Executable* executable;
  int64_t generated_code_size_in_bytes, argument_size_in_bytes, output_size_in_bytes, alias_size_in_bytes,
      temp_size_in_bytes, host_generated_code_size_in_bytes, host_argument_size_in_bytes, host_output_size_in_bytes,
      host_alias_size_in_bytes, host_temp_size_in_bytes, peak_memory_in_bytes, total_size_in_bytes,
      total_allocation_bytes, indefinite_allocations, peak_unpadded_heap_bytes;
};
struct PJRT_Executable_GetCompileOptions_Args : PJRT_Args {
  PJRT_Executable* executable;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  void* serialized_compile_options;
  PJRT_Deleter serialized_compile_options_deleter;
};
struct PJRT_Executable_DeserializeAndLoad_Args : PJRT_Args {
  PJRT_Client* client;
  const char* serialized_executable;
  size_t serialized_executable_size;
  PJRT_LoadedExecutable* loaded_executable;
  const char* overridden_serialized_compile_options;
  size_t overridden_serialized_compile_options_size;
  void* load_options;
};
struct PJRT_LoadedExecutable_Destroy_Args : PJRT_Args {
  PJRT_LoadedExecutable* executable;
};
struct PJRT_LoadedExecutable_GetExecutable_Args : PJRT_Args {
  PJRT_LoadedExecutable* loaded_executable;
  PJRT_Executable* executable;
};
struct PJRT_LoadedExecutable_AddressableDevices_Args : PJRT_Args {
  PJRT_LoadedExecutable* executable;
  PJRT_Device* const* addressable_devices;
  size_t num_addressable_devices;
};
struct PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args : PJRT_Args {
  PJRT_LoadedExecutable* executable;
  const PJRT_LogicalDeviceIds* addressable_device_logical_ids;
  size_t num_addressable_device_logical_ids;
};
struct PJRT_LoadedExecutable_GetDeviceAssignment_Args : PJRT_Args {
  PJRT_LoadedExecutable* executable;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  void* serialized_device_assignment;
  PJRT_Deleter serialized_device_assignment_deleter;
};
struct PJRT_LoadedExecutable_Delete_Args : PJRT_Args {
  PJRT_LoadedExecutable* executable;
};
struct PJRT_LoadedExecutable_IsDeleted_Args : PJRT_Args {
  PJRT_LoadedExecutable* executable;
  bool is_deleted;
};
struct PJRT_LoadedExecutable_Execute_Args : PJRT_Args {
  PJRT_LoadedExecutable* executable;
  PJRT_ExecuteOptions* options;
  PJRT_Buffer* const* const* argument_lists;
  size_t num_devices, num_args;
  PJRT_Buffer** const* output_lists;
  PJRT_Event** device_complete_events;
  PJRT_Device* execute_device;
};
struct PJRT_LoadedExecutable_Fingerprint_Args : PJRT_Args {
  PJRT_LoadedExecutable* executable;
  const char* executable_fingerprint;
  size_t executable_fingerprint_size;
};
struct PJRT_Buffer_Destroy_Args : PJRT_Args {
  PJRT_Buffer* buffer;
};
struct PJRT_Buffer_ElementType_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  PJRT_Buffer_Type type;
};
struct PJRT_Buffer_Dimensions_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  const int64_t* dims;
  size_t num_dims;
};
struct PJRT_Buffer_UnpaddedDimensions_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  const int64_t* unpadded_dims;
  size_t num_dims;
};
struct PJRT_Buffer_DynamicDimensionIndices_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  const size_t* dynamic_dim_indices;
  size_t num_dynamic_dims;
};
struct PJRT_Buffer_GetMemoryLayout_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  PJRT_Buffer_MemoryLayout layout;
};
struct PJRT_Buffer_OnDeviceSizeInBytes_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  size_t on_device_size_in_bytes;
};
struct PJRT_Buffer_Device_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  PJRT_Device* device;
};
struct PJRT_Buffer_Memory_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  PJRT_Memory* memory;
};
struct PJRT_Buffer_Delete_Args : PJRT_Args {
  PJRT_Buffer* buffer;
};
struct PJRT_Buffer_IsDeleted_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  bool is_deleted;
};
struct PJRT_Buffer_CopyToDevice_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  PJRT_Device* dst_device;
  PJRT_Buffer* dst_buffer;
};
struct PJRT_Buffer_CopyToMemory_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  PJRT_Memory* dst_memory;
  PJRT_Buffer* dst_buffer;
};
struct PJRT_Buffer_ToHostBuffer_Args : PJRT_Args {
  PJRT_Buffer* src;
  PJRT_Buffer_MemoryLayout* host_layout;
  void* dst;
  size_t dst_size;
  PJRT_Event* event;
};
struct PJRT_Buffer_CopyRawToHost_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  void* dst;
  int64_t offset, transfer_size;
  PJRT_Event* event;
};
struct PJRT_Buffer_IsOnCpu_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  bool is_on_cpu;
};
struct PJRT_Buffer_ReadyEvent_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  PJRT_Event* event;
};
struct PJRT_Buffer_UnsafePointer_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  size_t buffer_pointer;
};
struct PJRT_Buffer_IncreaseExternalReferenceCount_Args : PJRT_Args {
  PJRT_Buffer* buffer;
};
struct PJRT_Buffer_DecreaseExternalReferenceCount_Args : PJRT_Args {
  PJRT_Buffer* buffer;
};
struct PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args : PJRT_Args {
  PJRT_Buffer* buffer;
  void* device_memory_ptr;
};
struct PJRT_TopologyDescription_Destroy_Args : PJRT_Args {
  PJRT_TopologyDescription* topology;
};
struct PJRT_TopologyDescription_PlatformName_Args : PJRT_Args {
  PJRT_TopologyDescription* topology;
  const char* platform_name;
  size_t platform_name_size;
};
struct PJRT_TopologyDescription_PlatformVersion_Args : PJRT_Args {
  PJRT_TopologyDescription* topology;
  const char* platform_version;
  size_t platform_version_size;
};
struct PJRT_TopologyDescription_GetDeviceDescriptions_Args : PJRT_Args {
  PJRT_TopologyDescription* topology;
  PJRT_DeviceDescription* const* descriptions;
  size_t num_descriptions;
};
struct PJRT_TopologyDescription_Attributes_Args : PJRT_Args {
  PJRT_TopologyDescription* topology;
  const PJRT_NamedValue* attributes;
  size_t num_attributes;
};
struct PJRT_TopologyDescription_Serialize_Args : PJRT_Args {
  PJRT_TopologyDescription* topology;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  void* serialized_topology;
  PJRT_Deleter serialized_topology_deleter;
};
struct PJRT_TopologyDescription_Fingerprint_Args : PJRT_Args {
  PJRT_TopologyDescription* topology;
  size_t fingerprint;
};
