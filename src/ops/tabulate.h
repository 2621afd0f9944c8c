#pragma once
/// Functions of few bits as tables: if a chain of operations depends only on one integer with at most 256 possible
/// values, and costs more than a look-up, it is precomputed for all of them. A bf16 random number has 128 values.

#include "nest/nest.h"

namespace lowtide::engine {

/// `nest` must be plain (nest/legalise.h): all machines compute its operations to the same bits.
Nest tabulate(const Nest& nest);

}  // namespace lowtide::engine
