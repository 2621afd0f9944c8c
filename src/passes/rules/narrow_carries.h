#pragma once
/// Carries the operands of a loop-carried value instead of the value, if they are smaller, and computes the value where
/// it is read.
///
///     p = f32[24,130] pad(x, 0)                              while (i, y = x):
///     while (i, p):  y = p[8:16, 1:129]              ==>       p  = pad(y, 0)      (virtual)
///                    p' = pad(f(y), 0)                         y' = f(p[8:16, 1:129])
///
/// Saves bytes(p) - bytes(y): halos, wraps, paddings and broadcasts that every iteration puts around a smaller value.
///
/// A carry is narrowed if its initial value and its next value are each computed by the same moves from one value:
/// pads, concatenations, slices, broadcasts, reshapes, transposes, reverses, selects, with the same constants.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not narrowed: carries that the condition reads; moves of several values, such as XLA's form of a wrap; savings below
/// 1/kLeastPart of the carry.
/// Tests: tests/text/passes/narrow-carries/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kLeastPart = 64;

Result<PassResult> narrow_carries(Module& module);

}  // namespace lowtide::engine
