#pragma once
/// Unrolls a short loop whose body is elementwise in its large arrays.
///
///     w = while((0, x, y)), trip count 2,                     x1 = add(x, y)      y1 = xor(x1, y)
///         body: (i + 1, add(x, y), xor(add(x, y), y))   ==>   x2 = add(x1, y1)    y2 = xor(x2, y1)
///
/// Saves bytes(carry) for each large carry: between the iterations they are virtual, since element i of the last
/// iteration depends only on element i of the first. Values that the loop counted or looked up (rotation amounts, round
/// keys) become constants. Threefry, as JAX writes it on CPUs, is such a loop: 5 iterations over two words for each
/// random number.
///
/// Requires: verified, trip count known (analysis/trip_count.h).  Keeps: roots, donation; the schedule, if the
/// iterations run in the loop's place.
/// Numerics: exact.
/// Not unrolled: more than kMostUnrolledTrips iterations or kMostUnrolled instructions; bodies that slice, reduce or
///   matrix-multiply a large array, or pass it to a computation: those iterations don't commute with indexing.
///   Loop-invariant values (round keys of many generators) may be sliced, reshaped and broadcast.
/// Longer loops of this kind stay loops, evaluated per element (OpRule::element of while).
/// Tests: tests/text/passes/unroll-elementwise-loops/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kMostUnrolledTrips = 8;
inline constexpr int64_t kMostUnrolled = 1024;  ///< instructions that one loop may become
inline constexpr int64_t kSmallLoopArray = 64;  ///< elements of an array that may be indexed freely

Result<PassResult> unroll_elementwise_loops(Module& module);

}  // namespace lowtide::engine
