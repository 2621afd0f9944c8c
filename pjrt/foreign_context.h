#pragma once
/// The state that one foreign call shares with the functions of the table that its handler calls.

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "foreign_abi.h"

struct XLA_FFI_Error {
  XLA_FFI_Code code = 0;
  std::string message;
};

/// For a handler that continues after it has returned.
struct XLA_FFI_Future {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  std::unique_ptr<XLA_FFI_Error> error;
};

namespace lowtide::pjrt {

/// A handler's state between calls of a target with the same attributes, by the stage that created it. It lives as long
/// as the process.
struct ForeignState {
  int64_t type = 0;
  void* state = nullptr;
};
using ForeignStates = std::array<ForeignState, 4>;

}  // namespace lowtide::pjrt

struct XLA_FFI_ExecutionContext {
  lowtide::pjrt::ForeignStates* states = nullptr;
  int64_t run = 0;

  std::mutex mutex;                                                          ///< guards the members below
  std::vector<std::thread> tasks;                                            ///< all have ended when the call returns
  std::unordered_map<void*, std::unique_ptr<void, void (*)(void*)>> memory;  ///< freed then, if it wasn't before
};
