#pragma once
/// Tokens among a program's arguments and results become arrays without elements, for hosts that hand them over as
/// such: JAX's ordered effects do.
///
///     t = token[] parameter(0)               p = pred[0] parameter(0)
///     u = token[] custom-call(t, x)          t = token[] after-all()
///     ROOT r = (token[], f32[2]) tuple(u, x)      u = token[] custom-call(t, x)
///                                    ==>     ROOT r = (pred[0], f32[2]) tuple(constant({}), x)
///
/// What a token orders within the program it still orders; between programs the host does, by what it hands over.
/// Numbers of arguments and results stay. Parameters that are tuples keep their tokens: no host makes such. Requires:
/// nothing.  Keeps: donation, order.  Tests: tests/unit/host_call_test.cpp

#include "ir/module.h"

namespace lowtide::engine {

/// Whether there were any.
bool make_tokens_arrays(Module& module);

}  // namespace lowtide::engine
