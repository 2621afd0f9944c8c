#pragma once
/// Where dynamic-slice and dynamic-update-slice begin: one scalar integer operand per dimension. Older programs have
/// one operand with all of them; readers take it apart.

#include "ops/op_rule.h"

namespace lowtide::engine {

/// Operands from `first` on are the start indices of an array of this rank.
Status check_start_indices(const Instruction& instruction, std::string_view label, size_t first, int64_t rank);

/// Their values, moved so that a window of these sizes lies in an array of these extents.
Dims clamped_starts(Operands indices, const Dims& extents, const Dims& sizes);

/// Writes start indices that are one vector as its elements:
///
///     x = f32[8,8] dynamic-slice(a, v)   ==>   v0 = s32[1] slice(v), slice={[0:1]};  s0 = s32[] reshape(v0);  ...
///                                              x = f32[8,8] dynamic-slice(a, s0, s1)
///
/// The module need not be verified: what isn't such a vector stays as it is, for its shape rule to refuse.
void split_start_vectors(Module& module);

}  // namespace lowtide::engine
