#pragma once
/// Drops conversions that change nothing, and detours through a wider type.
///
///     a = f32[8] convert(x), x f32[8]                      a is x
///     w = f32[8] convert(b), b bf16[8]                     d is b
///     d = bf16[8] convert(w)                      ==>
///     s = s32[8] convert(h), h s8[8]                       e = f32[8] convert(h)
///     e = f32[8] convert(s)
///
/// Saves bytes(x) for each convert to the own type, bytes(w) + bytes(d) for each round trip (a gradient tree that is
/// cast leaf by leaf: the sum of its leaves), bytes(s) for each detour.
///
/// U holds T when every value of T is one of U: pred and integers in wider integers, s8 and u8 in bf16 and f16, ...,
/// the eight-bit floats in f16 and bf16, these in f32, all in f64. Then convert_V(convert_U(x)) is convert_V(x) for any
/// V: the inner step is exact, and the outer one rounds, saturates or wraps the same number. Only a float detour
/// between integers is kept where the outer step would saturate: without it, it would wrap.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact (a signalling NaN stays signalling where the detour would have made it quiet).
/// Not removed: narrowing in between (f32 -> bf16 -> f32 rounds), converts that carry another sharding than their
///   operand on more than one device, that change the layout, or that control edges hold.
/// Tried and rejected: f8e8m0fnu in f32: its smallest value is below f32's normal numbers, and executors may flush it.
/// Tests: tests/text/passes/remove-noop-casts/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> remove_noop_casts(Module& module);

/// Is every value of `narrow` one of `wide`?
bool holds_all_values(ElementType wide, ElementType narrow);

}  // namespace lowtide::engine
