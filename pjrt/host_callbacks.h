#pragma once
/// Callbacks of a host in another language: one C function calls them all, each by its number.

#include <cstdint>
#include <utility>
#include <vector>

#include "lowtide/host_call.h"
#include "lowtide/module.h"

namespace lowtide::pjrt {

/// Programs call "lowtide.host.callback" with a config in which the callback's number is the only one: {id = 3 : ui64}.
inline constexpr const char* kCallbackFunction = "callback";
Result<void> call_back(const HostCall& call);

/// Those of a program, which the host keeps from here on until this goes: runs outlive what compiled them.
class HeldCallbacks {
 public:
  HeldCallbacks() = default;
  explicit HeldCallbacks(const std::vector<HostCallSite>& calls);
  ~HeldCallbacks();
  HeldCallbacks(HeldCallbacks&& other) noexcept : ids_(std::exchange(other.ids_, {})) {}
  HeldCallbacks& operator=(HeldCallbacks&& other) noexcept {
    std::swap(ids_, other.ids_);
    return *this;
  }
  HeldCallbacks(const HeldCallbacks&) = delete;
  HeldCallbacks& operator=(const HeldCallbacks&) = delete;

 private:
  std::vector<int64_t> ids_;
};

}  // namespace lowtide::pjrt
