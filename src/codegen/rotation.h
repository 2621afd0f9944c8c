#pragma once
/// Rotations, which HLO spells with two shifts.

#include <optional>

#include "nest/nest.h"

namespace lowtide::engine {

struct Rotation {
  NodeId value = kNoId;
  uint32_t left = 0;  ///< bits
};

/// x << l combined with x >> (width - l), where node `id` is that.
std::optional<Rotation> rotation_of(const Nest& nest, NodeId id);

}  // namespace lowtide::engine
