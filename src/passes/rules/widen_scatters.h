#pragma once
/// Scatters narrow floats directly in the wide type of the program's result.
///
///     z = bf16[V,D] broadcast(0)                         z = f32[V,D] broadcast(0)
///     s = bf16[V,D] scatter(z, ids, u), add         ==>  s = f32[V,D] scatter(z, ids, f32 convert(u)),
///     result = f32[V,D] convert(s)                         each sum rounded to bf16
///
/// Saves bytes(s), and a pass over it and the result: gradients of embeddings that are computed in bf16 and returned in
/// f32.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: the stored wide number is representable in the narrow type at all times, and is combined as such.
/// Not rewritten: scatters with other readers, those into a stored array, and those that aren't results: they may be
/// widened where they are read.
/// Tests: tests/text/passes/widen-scatters/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> widen_scatters(Module& module);

}  // namespace lowtide::engine
