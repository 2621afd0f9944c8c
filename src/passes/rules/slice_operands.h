#pragma once
/// Takes a slice before the work, where nothing else reads the work's result.
///
///     m = f32[8,N,N] select(mask, 0, -inf)                  k = pred[1,N,N] dynamic-slice(mask, i, 0, 0)
///     s = f32[1,N,N] dynamic-slice(m, i, 0, 0)         ==>  s = f32[1,N,N] select(k, 0, -inf)
///
/// Saves what is stored of the chain above a slice: whatever of it is best stored, for it is read several times, is
/// stored as wide as the slice is, not as wide as what it was taken of. Streams leave such slices of all that isn't
/// made tile by tile.
///
/// Looked through: elementwise work, broadcasts, transposes, and reshapes that keep the sliced dimensions.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same operations on the same values, fewer of them.
/// Not moved: slices of what has another reader, which needs it whole or another part of it.
/// Tests: tests/text/passes/slice-operands/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> slice_operands(Module& module);

}  // namespace lowtide::engine
