#pragma once
/// Lets matrix products read and write arrays in their existing layout, without transposes.
///
///     t = f32[512,32000] transpose(w), dimensions={1,0}
///     y = f32[64,32000] dot(x, t), contracting 1 and 0    ==>   y = f32[64,32000] dot(x, w), contracting 1 and 1
///
///     p = f32[32000,512] dot(g, x)
///     d = f32[512,32000] transpose(p), dimensions={1,0}   ==>   d = f32[512,32000] dot(x, g)
///
/// Saves bytes(t) or bytes(p), and the time to write and read them: a product reads its operands in any order.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact (a library may sum in another order).
/// Not done if the order of free dimensions would change, if the product has other readers, or if a kernel computes it:
/// kernels read through transposes in any case.
/// Tests: tests/text/passes/fold-transposes/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> fold_transposes(Module& module, const Target& target);

}  // namespace lowtide::engine
