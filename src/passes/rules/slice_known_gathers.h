#pragma once
/// Replaces a gather with known indices, or with a single one, by slices.
///
///     k = s32[4,1] {3, 0, 1, 2}                       a = f32[1,D] slice(x), [3:4]
///     y = f32[4,D] gather(x, k)              ==>      b = f32[3,D] slice(x), [0:3]
///                                                     y = f32[4,D] concatenate(a, b)
///
///     y = f32[1,D] gather(x, i)      i s32[1] ==>     y = f32[1,D] dynamic-slice(x, i, 0)
///
///     k = s32[8,1] {0, 0, 1, 1, ...}          r = f32[4,2,D] broadcast(x)
///     y = f32[8,D] gather(x, k)              ==>     y = f32[8,D] reshape(r)
///
/// Exposes what a gather hides: slices are views, parts of a concatenation are computed in place, a roll moves in
/// place; reads of single elements become reads of rows.
///
/// Known are indices computed from constants and iotas; at most kMostRuns rows of windows with a constant step, also
/// negative (reverse) or zero (broadcast), each read once, or equally often in a row (nearest-neighbour upsampling).
/// Both clamp starts alike.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Tests: tests/text/passes/slice-known-gathers/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr size_t kMostRuns = 4;

Result<PassResult> slice_known_gathers(Module& module);

}  // namespace lowtide::engine
