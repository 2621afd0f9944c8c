#pragma once
/// Devices, their descriptions and their memory: this machine, as many times as the client's option says.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "abi.h"
#include "ledger.h"
#include "worker.h"

struct PJRT_DeviceDescription {
  void* functions = nullptr;
  int id = 0;
  std::string kind, text;
};

struct PJRT_Memory {
  void* functions = nullptr;
  int id = 0, kind_id = 0;
  std::string kind, text;
  std::vector<PJRT_Device*> devices;
};

struct PJRT_Device {
  void* functions = nullptr;
  PJRT_Client* client = nullptr;
  PJRT_DeviceDescription description;
  /// "device", "pinned_host" and "unpinned_host", as in XLA:CPU: all of them are this machine's memory; the names only
  /// say where an accelerator would keep arrays. The first is the default.
  std::array<PJRT_Memory, 3> own_memories;
  std::vector<PJRT_Memory*> memories;

  static constexpr size_t kMostWaiting = 32;
  /// Calls hosts back about events; they may take their own locks then, and no program waits for those.
  lowtide::pjrt::Worker news{SIZE_MAX, lowtide::pjrt::Worker::AtTheEnd::kDoAll};
  /// Runs programs and copies arrays, in the order in which they were given.
  lowtide::pjrt::Worker runner{kMostWaiting, lowtide::pjrt::Worker::AtTheEnd::kGiveUp, &news};

  const std::shared_ptr<lowtide::pjrt::Ledger> ledger;  ///< which outlives the device if buffers do

  PJRT_Device(PJRT_Client* of, int id, std::shared_ptr<lowtide::pjrt::Pools> pools);
  PJRT_Device(const PJRT_Device&) = delete;
  PJRT_Device& operator=(const PJRT_Device&) = delete;
  /// The memory of this kind, or null; an empty kind means the default.
  PJRT_Memory* memory_of(std::string_view kind);
};
