#pragma once
/// Expresses moves between the device's memory and the host's as layouts: values in host memory have S(5), a move is a
/// copy, and a stack's slices are written to host memory, and read from it, without an additional copy.
///
///     h = f32[8] custom-call(x), custom_call_target="MoveToHost"
///     s = f32[4,8] dynamic-update-slice(stack, f32[1,8] reshape(h), i, 0)
///     ==>
///     s = f32[4,8]{1,0:S(5)} dynamic-update-slice(stack, f32[1,8] reshape(x), i, 0)
///
/// Saves bytes(x) on the device for each move: a slice that is moved needs no buffer.
///
/// Which values lie in host memory is decided by analysis/host_values.h.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Tests: tests/text/passes/spell-host-moves/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_host_moves(Module& module);

/// Gives an array's layout this memory space: kHostMemory or 0.
void place_in(Shape& array, int64_t memory_space);

/// Gives S(5) to all values that lie in host memory because some layouts say so, such as a stack throughout its loop.
void spell_host_values(Module& module);

}  // namespace lowtide::engine
