#pragma once
/// The start indices of dynamic-slice and dynamic-update-slice: one scalar integer operand per dimension. Older
/// programs have one operand with all of them, which readers split.

#include "ops/op_rule.h"

namespace lowtide::engine {

/// Checks that the operands from `first` on are the start indices of an array of this rank.
Status check_start_indices(const Instruction& instruction, std::string_view label, size_t first, int64_t rank);

/// Their values, clamped so that a window of these sizes is inside an array of these extents.
Dims clamped_starts(Operands indices, const Dims& extents, const Dims& sizes);

/// Replaces start indices that are one vector by its elements:
///
///     x = f32[8,8] dynamic-slice(a, v)   ==>   v0 = s32[1] slice(v), slice={[0:1]};  s0 = s32[] reshape(v0);  ...
///                                              x = f32[8,8] dynamic-slice(a, s0, s1)
///
/// The module need not be verified: an operand that isn't such a vector is kept, and its shape rule rejects it.
void split_start_vectors(Module& module);

}  // namespace lowtide::engine
