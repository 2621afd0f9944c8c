#pragma once
/// Replaces a call by the body of the called computation.
///
///     f { p = f32[8] parameter(0)                       ENTRY {
///         ROOT r = f32[8] negate(p) }                     x = f32[8] parameter(0)
///     ENTRY { x = f32[8] parameter(0)            ==>      ROOT r = f32[8] negate(x)
///             ROOT c = f32[8] call(x), to_apply=f }     }
///
/// Saves nothing by itself; later passes can save bytes(call's operands with their last use inside f), since an
/// argument of a call is live until the call returns. A body that is called k times is copied k times; growth stops at
/// kMostInlined instructions (a chain of calls may double at each level); the rest stay calls.
///
/// The body inherits the call's metadata: an op_name that is relative to the call is prefixed with the call's name
/// ("jit(f)/jit(_normal)" + "add"), an instruction without a source gets the call's, and the root gets the call's
/// sharding.
///
/// A call of an identity that asks to stay is how a program spells a barrier that XLA:CPU keeps, and becomes a barrier.
///
/// Requires: verified.  Keeps: roots, donation, schedule (a body runs where its call stood).
/// Numerics: exact.
/// Not inlined: calls that ask to stay (frontend attribute inlineable="false", while more than one device runs the
///   program: they bound a manually partitioned region), bodies of another execution thread or compute type, calls that
///   control edges hold.
/// Tried and rejected: moving the body instead of copying it where there is one caller. The dead body goes with
///   remove_dead_code anyway, and copying keeps one path through the code.
/// Tests: tests/text/passes/inline-calls/

#include <functional>

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> inline_calls(Module& module);

/// Only calls in these computations. Returns how many.
int64_t inline_calls_in(Module& module, const std::function<bool(const Computation&)>& chosen);

}  // namespace lowtide::engine
