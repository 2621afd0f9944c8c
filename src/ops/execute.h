#pragma once
/// Runs a nest by definition: one iteration after the other, one element at a time. The reference for compiled code.

#include <span>

#include "nest/nest.h"

namespace lowtide::engine {

/// `buffers`: the nest's, in order. A load or store outside its buffer is a bug in the code that made the nest.
void execute(const Nest& nest, std::span<void* const> buffers);

}  // namespace lowtide::engine
