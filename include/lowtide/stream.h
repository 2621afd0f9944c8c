#pragma once
/// Streams: what is evaluated on one stream is evaluated one after another, on different ones side by side.

#include <memory>

#include "lowtide/visibility.h"

namespace lowtide {

struct Device {
  enum DeviceType { cpu };
  DeviceType type = cpu;
  int index = 0;
  bool operator==(const Device&) const = default;
};

struct Stream {
  int index = 0;
  Device device = {};
  bool operator==(const Stream&) const = default;
};

/// The last argument of every operation: a stream, a device (its default stream), or nothing (the thread's default).
struct StreamOrDevice {
  int index = -1;  ///< -1: the default
  StreamOrDevice() = default;
  StreamOrDevice(Stream stream) : index(stream.index) {}  // NOLINT: implicit on purpose
  StreamOrDevice(Device) {}                               // NOLINT: implicit on purpose
  StreamOrDevice(Device::DeviceType) {}                   // NOLINT: implicit on purpose
};

LOWTIDE_PUBLIC Device default_device();
LOWTIDE_PUBLIC Stream default_stream(Device device = {});  ///< of this thread
LOWTIDE_PUBLIC void set_default_stream(Stream stream);
LOWTIDE_PUBLIC Stream new_stream(Device device = {});
/// Until all that was handed to the stream is done; without one, to any stream.
LOWTIDE_PUBLIC void synchronize(Stream stream);
LOWTIDE_PUBLIC void synchronize();

}  // namespace lowtide
