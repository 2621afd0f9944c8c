#pragma once
/// Devices, what describes them, and their memory: this machine, as often as the client was told.

#include <string>
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
  int id = 0;
  std::string kind, text;
  std::vector<PJRT_Device*> devices;
};

struct PJRT_Device {
  void* functions = nullptr;
  PJRT_Client* client = nullptr;
  PJRT_DeviceDescription description;
  PJRT_Memory memory;
  PJRT_Memory* memories[1] = {&memory};

  static constexpr size_t kMostWaiting = 32;
  /// Tells hosts of what has happened; they may take locks of theirs then, for which no program waits.
  lowtide::pjrt::Worker news{SIZE_MAX, lowtide::pjrt::Worker::AtTheEnd::kDoAll};
  /// Runs programs and copies arrays, in the order in which they were given.
  lowtide::pjrt::Worker runner{kMostWaiting, lowtide::pjrt::Worker::AtTheEnd::kGiveUp, &news};

  const std::shared_ptr<lowtide::pjrt::Ledger> ledger;  ///< which buffers outlive the device with

  PJRT_Device(PJRT_Client* of, int id, std::shared_ptr<lowtide::pjrt::Pools> pools);
  PJRT_Device(const PJRT_Device&) = delete;
  PJRT_Device& operator=(const PJRT_Device&) = delete;
};
