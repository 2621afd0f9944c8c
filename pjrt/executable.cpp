#include "executable.h"

#include <cstring>

#include "functions.h"

namespace lowtide::pjrt {

PJRT_Error* Executable_Destroy(PJRT_Executable_Destroy_Args& args) {
  delete args.executable;
  return nullptr;
}

PJRT_Error* Executable_Name(PJRT_Executable_Name_Args& args) {
  give(args.executable->compiled->name, args.executable_name, args.executable_name_size);
  return nullptr;
}

PJRT_Error* Executable_NumReplicas(PJRT_Executable_NumReplicas_Args& args) {
  args.num_replicas = 1;
  return nullptr;
}

PJRT_Error* Executable_NumPartitions(PJRT_Executable_NumPartitions_Args& args) {
  args.num_partitions = args.executable->compiled->devices.size();
  return nullptr;
}

PJRT_Error* Executable_NumOutputs(PJRT_Executable_NumOutputs_Args& args) {
  args.num_outputs = args.executable->compiled->result_types.size();
  return nullptr;
}

/// Gives 0, since programs share kernels.
PJRT_Error* Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args& args) {
  args.size_in_bytes = 0;
  return nullptr;
}

PJRT_Error* Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args& args) {
  give(args.executable->compiled->costs, args.properties, args.num_properties);
  return nullptr;
}

PJRT_Error* Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args& args) {
  args.num_outputs = args.executable->compiled->result_types.size();
  args.memory_kinds = args.executable->compiled->result_memory.texts.data();
  args.memory_kind_sizes = args.executable->compiled->result_memory.sizes.data();
  return nullptr;
}

PJRT_Error* Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args& args) {
  args.num_parameters = args.executable->compiled->executable.arguments().size();
  args.memory_kinds = args.executable->compiled->parameter_memory.texts.data();
  args.memory_kind_sizes = args.executable->compiled->parameter_memory.sizes.data();
  return nullptr;
}

/// The original program: the planned one has no form that hosts read. jaxlib asks twice for each program that it
/// compiles, and takes longer to parse it than compiling took, so it is returned only on request.
PJRT_Error* Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args& args) {
  if (!args.executable->compiled->devices[0]->client->gives_programs) {
    return unimplemented("programs are given back with the option as_text, or LOWTIDE_AS_TEXT=1");
  }
  const auto& [format, bytes] = args.executable->compiled->program;
  give(format, args.program->format, args.program->format_size);
  if (!args.program->code) {
    args.program->code_size = bytes.size();
    return nullptr;
  }
  if (args.program->code_size < bytes.size()) return invalid("found too little room for the program");
  std::memcpy(args.program->code, bytes.data(), bytes.size());
  return nullptr;
}

PJRT_Error* Executable_Fingerprint(PJRT_Executable_Fingerprint_Args& args) {
  give(args.executable->compiled->fingerprint, args.executable_fingerprint, args.executable_fingerprint_size);
  return nullptr;
}

PJRT_Error* Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args& args) {
  give(args.executable->compiled->result_types, args.output_types, args.num_output_types);
  return nullptr;
}

PJRT_Error* Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args& args) {
  args.num_outputs = args.executable->compiled->ranks.size();
  args.dims = args.executable->compiled->all_dims.data();
  args.dim_sizes = args.executable->compiled->ranks.data();
  return nullptr;
}

/// The plan's sizes, which are exactly what a run uses.
PJRT_Error* Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args& args) {
  const Sizes sizes = args.executable->compiled->plan.sizes();
  args.generated_code_size_in_bytes = 0;
  args.argument_size_in_bytes = sizes.arguments;
  args.output_size_in_bytes = sizes.outputs;
  args.alias_size_in_bytes = sizes.alias;
  args.temp_size_in_bytes = sizes.temp;
  args.host_generated_code_size_in_bytes = args.host_argument_size_in_bytes = args.host_output_size_in_bytes = 0;
  args.host_alias_size_in_bytes = 0;
  args.host_temp_size_in_bytes = sizes.host;  // including arguments and results in host memory
  args.peak_memory_in_bytes = args.total_size_in_bytes = args.total_allocation_bytes = sizes.peak;
  args.indefinite_allocations = 0;
  args.peak_unpadded_heap_bytes = sizes.temp;
  return nullptr;
}

PJRT_Error* Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args& args) {
  give(args.executable->compiled->options, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_compile_options = nullptr;
  args.serialized_compile_options_deleter = [](void*) {};
  return nullptr;
}

PJRT_Error* LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args& args) {
  delete args.executable;
  return nullptr;
}

PJRT_Error* LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args& args) {
  args.executable = new PJRT_Executable{.compiled = args.loaded_executable->compiled};
  return nullptr;
}

PJRT_Error* LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args& args) {
  give(args.executable->compiled->devices, args.addressable_devices, args.num_addressable_devices);
  return nullptr;
}

PJRT_Error* LoadedExecutable_AddressableDeviceLogicalIds(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args& args) {
  give(args.executable->compiled->logical_ids, args.addressable_device_logical_ids,
       args.num_addressable_device_logical_ids);
  return nullptr;
}

PJRT_Error* LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args& args) {
  give(args.executable->compiled->assignment, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_device_assignment = nullptr;
  args.serialized_device_assignment_deleter = [](void*) {};
  return nullptr;
}

PJRT_Error* LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args& args) {
  args.executable->deleted = true;
  return nullptr;
}

PJRT_Error* LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args& args) {
  args.is_deleted = args.executable->deleted;
  return nullptr;
}

PJRT_Error* LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args& args) {
  give(args.executable->compiled->fingerprint, args.executable_fingerprint, args.executable_fingerprint_size);
  return nullptr;
}

}  // namespace lowtide::pjrt
