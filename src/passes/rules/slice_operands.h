#pragma once
/// Moves a slice before an operation whose result has no other readers.
///
///     m = f32[8,N,N] select(mask, 0, -inf)                  k = pred[1,N,N] dynamic-slice(mask, i, 0, 0)
///     s = f32[1,N,N] dynamic-slice(m, i, 0, 0)         ==>  s = f32[1,N,N] select(k, 0, -inf)
///
/// Saves stored values in the chain before a slice: a value that is best stored, because it is read several times, is
/// stored only with the slice's extent. Streams leave such slices of values that aren't computed tile by tile.
///
/// Looked through: elementwise work, broadcasts, transposes, gathers, and reshapes that keep the sliced dimensions or
/// split one whose outermost part is sliced.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same operations on the same values, fewer of them.
/// Not moved: slices of values with another reader, which needs the whole value or another part of it; and of a
/// gather's table, of which a few rows may be read.
/// Tests: tests/text/passes/slice-operands/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> slice_operands(Module& module);

}  // namespace lowtide::engine
