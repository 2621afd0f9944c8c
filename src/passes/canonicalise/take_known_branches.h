#pragma once
/// Puts the body of the branch that is always taken in the place of a conditional.
///
///     where = s32[] constant(0)
///     y = f32[8] conditional(where, a, b), branch_computations={f, g}     ==>     y = f32[8] the body of f on a
///
/// Saves nothing by itself: what only the other branches read, and what the branch's operand keeps alive until the
/// conditional ends. JAX writes such conditionals where an operation is lowered for several platforms (gradients of
/// gathers): values in them can't be streamed or made where they are read.
///
/// Requires: verified, calls inlined: a constant that a caller passes is seen.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not taken: a branch whose index is computed, conditionals that control edges hold.
/// Tests: tests/text/passes/take-known-branches/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> take_known_branches(Module& module);

}  // namespace lowtide::engine
