#pragma once
/// Writes the conversions that an operation makes by itself where operands or result are floats of another precision.
///
///     y = bf16[N] add(f32[N] a, bf16[N] b)   ==>   c = f32[N] convert(b);  s = f32[N] add(a, c);  y = bf16[N]
///     convert(s)
///
/// Programs for TPUs leave them out. Saves nothing by itself: other passes put operands in the place of results, and
/// need not ask each time whether those round.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Tried: conversions made by the reader. What is explained wouldn't be the program as it was given then.
/// Tests: tests/text/passes/spell-precisions/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_precisions(Module& module);

}  // namespace lowtide::engine
