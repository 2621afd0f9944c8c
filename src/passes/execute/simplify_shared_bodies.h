#pragma once
/// Simplifies bodies that many calls share before each call gets a copy.
///
///     f { ..., 5 trips of a loop, ... }                f { the trips, with constants folded }
///     a = call(x), to_apply=f                   ==>    a = call(x), to_apply=f
///     ... 1,999 more calls                             ...
///
/// Saves no memory. A jitted Python loop calls one body thousands of times; folding, unrolling and sharing are then
/// done once in the body and not in every copy.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not done: where inlining would add less than kManyCopied instructions.
/// Tests: tests/text/passes/simplify-shared-bodies/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kManyCopied = 4096;

Result<PassResult> simplify_shared_bodies(Module& module);

}  // namespace lowtide::engine
