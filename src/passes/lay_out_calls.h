#pragma once
/// Rewrites calls of host functions whose operands or results don't lie row by row into calls without layouts: the
/// function sees the extents that it expects, and elements in the expected places.
///
///     y = f32[2,3]{0,1} custom-call(x),                   t = f32[3,2] transpose(x), dimensions={1,0}
///         operand_layout_constraints={f32[2,3]{0,1}}      a = f32[2,3] reshape(t)
///                                                    ==>  c = f32[2,3] custom-call(a)
///                                                         r = f32[3,2] reshape(c)
///                                                         y = f32[2,3] transpose(r), dimensions={1,0}
///
/// Requires: verified; calls are host calls already (take_foreign_calls).  Keeps: order. Refuses calls that share
/// memory between arrays of different orders, and calls whose layouts have tiles.
/// Tests: tests/unit/host_call_test.cpp, tests/external/jax_foreign.py

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// An error of kind kUnsupported gives the place of the call.
Status lay_out_calls(Module& module);

}  // namespace lowtide::engine
