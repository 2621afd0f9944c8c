#pragma once
/// XLA's "fast merge", the packer of its TPU backend.

#include "plan/problem.h"

namespace lowtide::engine {

/// Places buffers in the order of their birth, or of their death if born together; each goes into the smallest hole
/// that fits at that time. A buffer keeps its bytes, and the bytes below it lost to alignment, from its first birth to
/// its last death.
Placement pack_first_come(const Problem& problem);

}  // namespace lowtide::engine
