#pragma once
/// Writes pieces of a concatenation into the array that its largest piece is a slice of, where that slice already lies
/// at its place: halos and boundaries of a field.
///
///     m = f32[1552,1536] slice(a), slice={[0:1552], [8:1544]}
///     y = f32[1552,1552] concatenate(l, m, r), dimensions={1}
///                          ==>  u = f32[1552,1552] dynamic-update-slice(a, l, 0, 0)
///                               y = f32[1552,1552] dynamic-update-slice(u, r, 0, 1544)
///
/// Saves bytes(y): XLA computes a concatenation beside what it reads, but updates in place (read-before-updates sees to
/// it that l and r, slices of the same field, are read first). Nested concatenations, one for each dimension, become
/// updates of the same array; slices of the inner ones, and of the largest piece, are read
/// from there.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact: values only move.
/// Not written: over arguments that no result is declared to alias, and over what another reader needs whole: XLA would
/// copy these; small arrays.
/// Tests: tests/text/passes/write-around/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kSmallestWritten = 1 << 20;  ///< bytes

Result<PassResult> write_around(Module& module);

}  // namespace lowtide::engine
