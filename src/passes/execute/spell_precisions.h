#pragma once
/// Makes the implicit conversions of operations with floats of different precisions explicit.
///
///     y = bf16[N] add(f32[N] a, bf16[N] b)   ==>   c = f32[N] convert(b)
///                                                  s = f32[N] add(a, c)
///                                                  y = bf16[N] convert(s)
///
/// Programs for TPUs leave these conversions out. Saves nothing by itself: other passes replace results by operands,
/// and needn't check each time whether the result is rounded.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Tried: inserting the conversions in the reader. Then the explained program wouldn't be the given one.
/// Tests: tests/text/passes/spell-precisions/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_precisions(Module& module);

}  // namespace lowtide::engine
