#pragma once
/// XLA's "fast merge", the packer of its TPU backend.

#include "plan/problem.h"

namespace lowtide::engine {

/// Buffers in the order of their birth, of those born together the first to die first; each goes into the smallest hole
/// that fits it then. A buffer keeps its bytes from its first birth to its last death, and with them those that
/// alignment left below it.
Placement pack_first_come(const Problem& problem);

}  // namespace lowtide::engine
