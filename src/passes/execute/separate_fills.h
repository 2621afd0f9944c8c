#pragma once
/// Gives what reads an array of equal numbers, element by element, an array of its own if a loop or an update starts
/// from it.
///
///     z = broadcast(0)                       z = broadcast(0)   z.1 = broadcast(0)
///     l = while(z), s = select(p, x, z)  ==> l = while(z),      s = select(p, x, z.1)
///
/// What a loop starts from is stored, and then every reader reads it: zeros lay there until the last of them, after the
/// loop, and the loop had a copy. An array that is only read element by element is never stored.
///
/// Saves: the array's bytes from the loop to its last reader.
/// Requires: verified; the last pass that shares equal values has run.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Left alone: arrays that nothing starts from; those with control edges or placed by a sharding.
/// Tests: tests/text/passes/separate-fills/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> separate_fills(Module& module);

}  // namespace lowtide::engine
