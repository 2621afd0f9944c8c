#pragma once
/// The same stream in all equal layers of a network that isn't written as a loop: a layer alone isn't the whole peak.

#include <functional>

#include "passes/stream/stream.h"
#include "region/virtual_values.h"

namespace lowtide::engine {

/// Which values of a computation are stored.
using StatesOf = std::function<std::vector<ValueState>(const ValueGraph&)>;

/// Streams all values with the seed's role (analysis/roles.h), each in loops of its own; those that can't be streamed
/// in this way are left. Returns how many values became parts of tiles; 0: none can.
int64_t stream_layers(Instruction& seed, const Target& target, const StreamDecision& decision,
                      const StatesOf& states_of);

}  // namespace lowtide::engine
