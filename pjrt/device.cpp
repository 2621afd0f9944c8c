#include "device.h"

#include "client.h"
#include "functions.h"

PJRT_Device::PJRT_Device(PJRT_Client* of, int id, std::shared_ptr<lowtide::pjrt::Pools> pools)
    : client(of), ledger(std::make_shared<lowtide::pjrt::Ledger>(std::move(pools))) {
  description.id = id;
  description.kind = "Lowtide CPU";
  description.text = "LowtideDevice(id=" + std::to_string(id) + ")";
  constexpr std::string_view kKinds[] = {"device", "pinned_host", "unpinned_host"};
  for (size_t k = 0; k < own_memories.size(); ++k) {
    PJRT_Memory& memory = own_memories[k];
    memory.id = id * static_cast<int>(own_memories.size()) + static_cast<int>(k);
    memory.kind_id = static_cast<int>(k);
    memory.kind = kKinds[k];
    memory.text = "LowtideMemory(id=" + std::to_string(memory.id) + ", kind=" + memory.kind + ")";
    memory.devices = {this};
    memories.push_back(&memory);
  }
}

PJRT_Memory* PJRT_Device::memory_of(std::string_view kind) {
  for (PJRT_Memory* memory : memories) {
    if (kind.empty() || memory->kind == kind) return memory;
  }
  return nullptr;
}

namespace lowtide::pjrt {

PJRT_Error* DeviceDescription_Id(PJRT_DeviceDescription_Id_Args& args) {
  args.id = args.device_description->id;
  return nullptr;
}

PJRT_Error* DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args& args) {
  args.process_index = 0;
  return nullptr;
}

PJRT_Error* DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args& args) {
  args.num_attributes = 0;
  args.attributes = nullptr;
  return nullptr;
}

PJRT_Error* DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args& args) {
  give(args.device_description->kind, args.device_kind, args.device_kind_size);
  return nullptr;
}

PJRT_Error* DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args& args) {
  give(args.device_description->text, args.debug_string, args.debug_string_size);
  return nullptr;
}

PJRT_Error* DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args& args) {
  give(args.device_description->text, args.to_string, args.to_string_size);
  return nullptr;
}

PJRT_Error* Device_GetDescription(PJRT_Device_GetDescription_Args& args) {
  args.device_description = &args.device->description;
  return nullptr;
}

PJRT_Error* Device_IsAddressable(PJRT_Device_IsAddressable_Args& args) {
  args.is_addressable = true;
  return nullptr;
}

PJRT_Error* Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args& args) {
  args.local_hardware_id = args.device->description.id;
  return nullptr;
}

PJRT_Error* Device_AddressableMemories(PJRT_Device_AddressableMemories_Args& args) {
  give(args.device->memories, args.memories, args.num_memories);
  return nullptr;
}

PJRT_Error* Device_DefaultMemory(PJRT_Device_DefaultMemory_Args& args) {
  args.memory = args.device->memories[0];
  return nullptr;
}

PJRT_Error* Device_GetAttributes(PJRT_Device_GetAttributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
  args.device_attributes = nullptr;
  args.attributes_deleter = [](void*) {};
  return nullptr;
}

PJRT_Error* Device_MemoryStats(PJRT_Device_MemoryStats_Args& args) {
  const Ledger& ledger = *args.device->ledger;
  args.bytes_in_use = ledger.in_use;
  args.peak_bytes_in_use = ledger.peak;
  args.num_allocs = ledger.allocations;
  args.largest_alloc_size = ledger.largest;
  args.bytes_limit = args.device->client->memory_bytes;
  args.peak_bytes_in_use_is_set = args.num_allocs_is_set = args.largest_alloc_size_is_set = true;
  args.bytes_limit_is_set = args.bytes_limit > 0;
  args.bytes_reserved = args.peak_bytes_reserved = args.bytes_reservable_limit = 0;
  args.largest_free_block_bytes = args.pool_bytes = args.peak_pool_bytes = 0;
  args.bytes_reserved_is_set = args.peak_bytes_reserved_is_set = args.bytes_reservable_limit_is_set = false;
  args.largest_free_block_bytes_is_set = args.pool_bytes_is_set = args.peak_pool_bytes_is_set = false;
  return nullptr;
}

PJRT_Error* Memory_Id(PJRT_Memory_Id_Args& args) {
  args.id = args.memory->id;
  return nullptr;
}

PJRT_Error* Memory_Kind(PJRT_Memory_Kind_Args& args) {
  give(args.memory->kind, args.kind, args.kind_size);
  return nullptr;
}

PJRT_Error* Memory_Kind_Id(PJRT_Memory_Kind_Id_Args& args) {
  args.kind_id = args.memory->kind_id;
  return nullptr;
}

PJRT_Error* Memory_DebugString(PJRT_Memory_DebugString_Args& args) {
  give(args.memory->text, args.debug_string, args.debug_string_size);
  return nullptr;
}

PJRT_Error* Memory_ToString(PJRT_Memory_ToString_Args& args) {
  give(args.memory->text, args.to_string, args.to_string_size);
  return nullptr;
}

PJRT_Error* Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args& args) {
  give(args.memory->devices, args.devices, args.num_devices);
  return nullptr;
}

}  // namespace lowtide::pjrt
