#pragma once
/// Where dynamic-slice and dynamic-update-slice begin: one scalar integer operand per dimension, or, in older programs,
/// one operand with all of them.

#include "ops/op_rule.h"

namespace lowtide {

/// Operands from `first` on are the start indices of an array of this rank.
Status check_start_indices(const Instruction& instruction, std::string_view label, size_t first, int64_t rank);

/// Their values, moved so that a window of these sizes lies in an array of these extents.
Dims clamped_starts(Operands indices, const Dims& extents, const Dims& sizes);

}  // namespace lowtide
