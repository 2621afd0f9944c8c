#pragma once
/// The device on which arrays are evaluated: the processor. A GPU can be named but isn't available: using it throws
/// std::invalid_argument.

#include <compare>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <variant>

#include "lowtide/visibility.h"

namespace lowtide {

struct Device {
  enum class DeviceType { cpu, gpu };
  static constexpr DeviceType cpu = DeviceType::cpu;
  static constexpr DeviceType gpu = DeviceType::gpu;

  DeviceType type = cpu;
  int index = 0;
  Device() = default;
  Device(DeviceType device_type, int number = 0) : type(device_type), index(number) {}  // NOLINT: implicit on purpose
  auto operator<=>(const Device&) const = default;
};
inline bool operator==(const Device& device, Device::DeviceType type) { return device.type == type; }

LOWTIDE_PUBLIC const Device& default_device();
LOWTIDE_PUBLIC void set_default_device(const Device& d);  ///< d must be available
LOWTIDE_PUBLIC bool is_available(const Device& d);
LOWTIDE_PUBLIC int device_count(Device::DeviceType type);
/// Facts about the processor: "device_name", "architecture".
LOWTIDE_PUBLIC const std::unordered_map<std::string, std::variant<std::string, size_t>>& device_info(
    const Device& d = default_device());

/// Kinds of GPU, none of which is available.
namespace gpu {
inline bool is_available() { return lowtide::is_available(Device::gpu); }
}  // namespace gpu
namespace metal {
inline bool is_available() { return false; }
}  // namespace metal
namespace cu {
inline bool is_available() { return false; }
}  // namespace cu

}  // namespace lowtide
