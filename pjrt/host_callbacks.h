#pragma once
/// Callbacks of a host in another language: a single C function calls each by its number.

#include <cstdint>
#include <utility>
#include <vector>

#include "lowtide/host_call.h"
#include "lowtide/module.h"

namespace lowtide::pjrt {

/// Programs call "lowtide.host.callback" with a config in which the callback's number is the only one: {id = 3 : ui64}.
inline constexpr const char* kCallbackFunction = "callback";
Result<void> call_back(const HostCall& call);

/// While one exists, this thread runs a program with these calls that another device runs as well (replicated), and
/// that device performs the effects: callbacks without results aren't called here, and those with effects that return
/// arrays are refused. With null, all are called, as in a program that a callback runs.
class EffectsElsewhere {
 public:
  explicit EffectsElsewhere(const std::vector<HostCallSite>* calls);
  ~EffectsElsewhere();
  EffectsElsewhere(const EffectsElsewhere&) = delete;
  EffectsElsewhere& operator=(const EffectsElsewhere&) = delete;

 private:
  const std::vector<HostCallSite>* before_;
};

/// A program's callbacks, which the host keeps until this is destroyed: runs outlive the objects that compiled them.
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
