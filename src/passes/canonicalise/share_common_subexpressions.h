#pragma once
/// Replaces instructions by earlier ones that compute the same from the same operands.
///
///     a = f32[8,8] dot(x, y)                               a = f32[8,8] dot(x, y)
///     b = f32[8,8] dot(x, y)                      ==>      c = f32[8,8] add(a, a)
///     c = f32[8,8] add(a, b)
///
/// Saves bytes(b) while both would be live; costs bytes(a) from a's last reader to b's, which the record of the peak
/// shows. Reducers and comparators of the same text become one computation.
///
/// Requires: verified.  Keeps: roots, donation.  Breaks: lifetimes (they may grow).
/// Numerics: exact.
/// Not shared:
///   anything in a scheduled module: XLA recomputes duplicates there to save memory (`.remat` copies);
///   broadcasts and iotas beyond kLargestShared bytes: they are computed where they are read, and sharing would only
///     make them live values; users of equal ones can be shared, though;
///   opt-barriers: they hide on purpose that two values are equal, which is how recomputation survives;
///   random numbers with state, side effects, tokens, collectives and what starts or ends them, parameters;
///   abbreviated constants `{...}`: they may differ; instructions that control edges hold.
/// Tried and rejected: operands in any order for commutative operations: add(x, y) and add(y, x) of two NaNs differ.
/// Tests: tests/text/passes/share-common-subexpressions/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kLargestShared = 1024;  ///< bytes of a broadcast or an iota that is shared

Result<PassResult> share_common_subexpressions(Module& module);

}  // namespace lowtide::engine
