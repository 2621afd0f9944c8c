#pragma once
/// The cost of attention that a library's custom call computes.

#include "ir/module.h"

namespace lowtide::engine {

/// The number of multiply-adds of cuDNN's and Transformer Engine's attention calls, forward or backward; 0 for anything
/// else. Masks are ignored, though they may let a call do less.
double attention_terms(const Instruction& instruction);

}  // namespace lowtide::engine
