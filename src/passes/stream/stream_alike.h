#pragma once
/// Applies a program's stream to the same program with other extents.
///
///     of the program:  s = f32[4096,4096], m = f32[4096], ... in tiles of 64 rows
///     of a small one:  s = f32[36,36],     m = f32[36],   ... in tiles of 9 rows   ==>  the same loops over the same
///
/// Which values a stream includes depends on their bytes (passes/stream/cluster.h): in a small program others would be
/// profitable, so the original program's choice is used.
///
/// Saves nothing: for checking what is done to a program that is too large to run.
/// Requires, Keeps, Breaks, Numerics: as passes/stream/stream.h.
/// Tests: tests/unit/resize_test.cpp

#include "passes/stream/stream.h"

namespace lowtide::engine {

/// Applies `decision`, a stream of `like`, to `module`, which has the same names and other extents: in tiles of `tile`.
/// An error if the names, or the dimensions along which loops are sliced, differ.
Result<PassResult> stream_alike(Module& module, const Module& like, const Target& target,
                                const StreamDecision& decision, int64_t tile);

}  // namespace lowtide::engine
