#pragma once
/// What attention costs that somebody else's call computes.

#include "ir/module.h"

namespace lowtide::engine {

/// Products that are added up, of calls of cuDNN's and Transformer Engine's attention, forward or backward; 0 for
/// anything else. Masks may let a call do less.
double attention_terms(const Instruction& instruction);

}  // namespace lowtide::engine
