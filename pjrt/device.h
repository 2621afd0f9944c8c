#pragma once
/// Devices, what describes them, and their memory: this machine, as often as the client was told.

#include <string>
#include <vector>

#include "abi.h"

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

  PJRT_Device(PJRT_Client* of, int id);
  PJRT_Device(const PJRT_Device&) = delete;
  PJRT_Device& operator=(const PJRT_Device&) = delete;
};
