#pragma once
/// Custom calls that move a value between the device's and the host's memory, in programs that XLA hasn't compiled yet.
///
///   MoveToHost, annotate_device_placement with _xla_buffer_placement="pinned_host" or "unpinned_host"
///   MoveToDevice, annotate_device_placement with _xla_buffer_placement="device"

#include <cstdint>

#include "ir/module.h"

namespace lowtide::engine {

enum class HostMove : uint8_t { kNone, kToHost, kToDevice };

HostMove host_move(const Instruction& i);

}  // namespace lowtide::engine
