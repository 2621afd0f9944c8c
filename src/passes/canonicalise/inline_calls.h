#pragma once
/// Puts the body of a called computation in the place of the call.
///
///     f { p = f32[8] parameter(0)                       ENTRY {
///         ROOT r = f32[8] negate(p) }                     x = f32[8] parameter(0)
///     ENTRY { x = f32[8] parameter(0)            ==>      ROOT r = f32[8] negate(x)
///             ROOT c = f32[8] call(x), to_apply=f }     }
///
/// Saves nothing by itself: bytes(call's operands that die inside f) once later levers see that they die there, since
/// an argument of a call is alive until the call returns. A body that is called k times is copied k times; a chain of
/// calls that doubles at each level stops growing at kMostInlined instructions, what is beyond stays a call.
///
/// What a call says, its body keeps: an op_name that is relative to the call gets the call's name in front
/// ("jit(f)/jit(_normal)" + "add"), an instruction without a source takes the call's, the call's sharding goes to the
/// root.
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
