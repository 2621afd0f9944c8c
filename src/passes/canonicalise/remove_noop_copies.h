#pragma once
/// Drops operations that return their operand: copies, and index maps that turn out to be the identity.
///
///     c = f32[4,8]{1,0} copy(x)                            c is x
///     r = f32[4,8] reshape(x)          x f32[4,8]          r is x
///     t = f32[4,8] transpose(x), dimensions={0,1}   ==>    t is x
///     p = f32[4,8] pad(x, v), padding=0_0x0_0              p is x
///     d = f32[4,8] dynamic-update-slice(x, u, 0, 0)        d is u          u f32[4,8]
///     q = f32[32] reshape(reshape(x))                      q = f32[32] reshape(x)
///
/// Also slice, concatenate, broadcast, reverse, dynamic-slice and bitcast that keep every element in its place.
/// Saves bytes(x) for each copy that an executor would have made; x lives as long as the copy did.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not removed: a copy or bitcast that changes the layout or the memory space (an offload to the host is one);
///   a copy in a scheduled module: XLA inserted it to separate two lifetimes, and the aliases it declares depend on it;
///   instructions with a sharding of their own on more than one device; instructions that control edges hold.
/// Tests: tests/text/passes/remove-noop-copies/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> remove_noop_copies(Module& module);

}  // namespace lowtide::engine
