#pragma once
/// Functions of few bits as tables: where a chain of operations varies with nothing but one integer of at most 256
/// values, and costs more than a look-up, it is computed beforehand for all of them. A bf16 random number has 128.

#include "nest/nest.h"

namespace lowtide::engine {

/// Of a plain nest (nest/legalise.h), whose operations all machines compute to the same bits.
Nest tabulate(const Nest& nest);

}  // namespace lowtide::engine
