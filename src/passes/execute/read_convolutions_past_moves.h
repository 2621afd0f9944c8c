#pragma once
/// Lets convolutions read their operands in their existing layout, through moves.
///
///     t = f32[200,500000] transpose(x), dimensions={1,0}       r = f32[500000,200,1] reshape(x)
///     r = f32[200,1,500000] reshape(t)                    ==>  y = f32[200,8,499901] convolution(r, k),
///     y = f32[200,8,499901] convolution(r, k),                       dim_labels=0bf_oi0->bf0
///           dim_labels=bf0_oi0->bf0
///
/// Saves bytes(t), and the time to write and read them: a convolution's routine packs its operands from any order.
/// Batches that vmap adds, and `jnp.convolve` of columns, produce such transposes; a gradient's kernel is reversed,
/// which a window can express.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same products, summed in the same order.
/// Looked through: transposes, reverses of a kernel's window, and reshapes that add or remove dimensions of one
/// element. Not convolutions that kernels compute: these read past transposes in any case.
/// Tests: tests/text/passes/read-convolutions-past-moves/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> read_convolutions_past_moves(Module& module, const Target& target);

}  // namespace lowtide::engine
