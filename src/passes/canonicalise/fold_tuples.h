#pragma once
/// Replaces an element of a tuple by the tuple's operand, and drops tuples that only reassemble the elements of
/// another.
///
///     t = (f32[8], s32[]) tuple(a, b)                    x = (f32[8], s32[]) while(...)
///     u = f32[8] get-tuple-element(t), index=0    ==>    u is a
///     g0 = get-tuple-element(x), index=0
///     g1 = get-tuple-element(x), index=1
///     v = tuple(g0, g1)                           ==>    v is x
///
/// Saves 8 bytes of pointers per element; the real gain is that the values inside a bundle become visible: dead
/// elements, in-place updates, the true last reader.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not folded: elements of an opt-barrier (they are separate values on purpose), tuples whose layout or sharding
/// differs from the original's, instructions that control edges hold.
/// Tests: tests/text/passes/fold-tuples/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> fold_tuples(Module& module);

}  // namespace lowtide::engine
