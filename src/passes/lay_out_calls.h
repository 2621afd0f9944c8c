#pragma once
/// Calls of host functions that take arrays, or give them, in other orders than row by row become calls that don't say
/// so: the function sees the extents that it expects, and elements where it expects them.
///
///     y = f32[2,3]{0,1} custom-call(x),                   t = f32[3,2] transpose(x), dimensions={1,0}
///         operand_layout_constraints={f32[2,3]{0,1}}      a = f32[2,3] reshape(t)
///                                                    ==>  c = f32[2,3] custom-call(a)
///                                                         r = f32[3,2] reshape(c)
///                                                         y = f32[2,3] transpose(r), dimensions={1,0}
///
/// Requires: verified; calls are host calls already (take_foreign_calls).  Keeps: order.  A call that shares memory
/// between arrays of different orders is refused, and one whose layouts have tiles.
/// Tests: tests/unit/host_call_test.cpp, tests/external/jax_foreign.py

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// kUnsupported, at the place of the call.
Status lay_out_calls(Module& module);

}  // namespace lowtide::engine
