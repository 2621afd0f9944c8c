#pragma once
/// Replaces tokens among a program's arguments and results by arrays without elements, for hosts that pass them as
/// such: JAX does for ordered effects.
///
///     t = token[] parameter(0)                          p = pred[0] parameter(0)
///     u = token[] custom-call(t, x)                     t = token[] after-all()
///     ROOT r = (token[], f32[2]) tuple(u, x)     ==>    u = token[] custom-call(t, x)
///                                                       ROOT r = (pred[0], f32[2]) tuple(constant({}), x)
///
/// Tokens still order calls within the program; between programs the host orders them, by passing the arrays. The
/// numbers of arguments and results stay the same. Tokens within tuple parameters stay: no host passes any.
/// Requires: nothing.  Keeps: donation, order.  Tests: tests/unit/host_call_test.cpp

#include "ir/module.h"

namespace lowtide::engine {

/// Returns whether there were any.
bool make_tokens_arrays(Module& module);

}  // namespace lowtide::engine
