#pragma once
/// Bit rotations, which HLO writes as two shifts.

#include <optional>

#include "nest/nest.h"

namespace lowtide::engine {

struct Rotation {
  NodeId value = kNoId;
  uint32_t left = 0;  ///< bits
};

/// The rotation, if node `id` is x << l combined with x >> (width - l).
std::optional<Rotation> rotation_of(const Nest& nest, NodeId id);

}  // namespace lowtide::engine
