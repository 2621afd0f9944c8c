#pragma once
/// Runs a nest by definition: one iteration after the other, one element at a time. The oracle of everything compiled.

#include <span>

#include "nest/nest.h"

namespace lowtide::engine {

/// Buffers are the nest's, in order. A load or store outside of its buffer is a bug of who made the nest.
void execute(const Nest& nest, std::span<void* const> buffers);

}  // namespace lowtide::engine
