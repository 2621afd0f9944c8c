#pragma once
/// A rough weight of what a node computes, for rewrites of nests that decide whether computing it twice matters.

#include "nest/nest.h"

namespace lowtide::engine {

/// In plain operations, such as an addition: one that takes many instructions, such as an exponential or a division,
/// weighs eight; loads, numbers and indices weigh nothing.
int weight_of(const Node& node);

}  // namespace lowtide::engine
