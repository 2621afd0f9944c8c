#pragma once
/// Helpers for slices of stacks.

#include "ir/module.h"

namespace lowtide::engine {

/// A constant zero of any rank, broadcast or not.
bool is_zero(const Instruction& i);

/// The value, traced through reshapes.
Instruction* behind_reshapes(Instruction* i);

}  // namespace lowtide::engine
