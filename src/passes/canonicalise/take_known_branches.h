#pragma once
/// Replaces a conditional by the body of the branch that is always taken.
///
///     where = s32[] constant(0)
///     y = f32[8] conditional(where, a, b), branch_computations={f, g}     ==>     y = f32[8] the body of f on a
///
/// Saves operands that only the other branches read, and those that the conditional keeps live until it ends. JAX emits
/// such conditionals for operations that are lowered for several platforms (gradients of gathers): values in them can't
/// be streamed or computed where they are read.
///
/// Requires: verified, calls inlined, so that constants that a caller passes are visible.  Keeps: roots, donation,
/// schedule.
/// Numerics: exact.
/// Not taken: a branch whose index is computed, conditionals that control edges hold.
/// Tests: tests/text/passes/take-known-branches/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> take_known_branches(Module& module);

}  // namespace lowtide::engine
