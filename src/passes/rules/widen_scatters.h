#pragma once
/// Scatters narrow floats in the wide type that a result of the program has them in.
///
///     z = bf16[V,D] broadcast(0)                         z = f32[V,D] broadcast(0)
///     s = bf16[V,D] scatter(z, ids, u), add         ==>  s = f32[V,D] scatter(z, ids, f32 convert(u)),
///     result = f32[V,D] convert(s)                         each sum rounded to bf16
///
/// Saves bytes(s), and a pass over it and the result: gradients of embeddings that are kept in bf16 and handed on in
/// f32.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: what is stored wide is a narrow number at all times, and is combined as one.
/// Not rewritten: what somebody else reads as well, what starts with an array that is stored, and what is no result: it
/// may be widened where it is read.
/// Tests: tests/text/passes/widen-scatters/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> widen_scatters(Module& module);

}  // namespace lowtide::engine
