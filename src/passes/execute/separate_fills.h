#pragma once
/// Gives each loop and each update that starts from an array of equal numbers an array of its own, and one to all that
/// read it element by element.
///
///     z = broadcast(0)                       z = broadcast(0)   z.1 = broadcast(0)   z.2 = broadcast(0)
///     l = while(z), s = select(p, x, z)  ==> l = while(z),      s = select(p, x, z.1)
///     u = scatter(z, i, v)                   u = scatter(z.2, i, v)
///
/// What a loop or an update starts from is stored, and then every reader reads it: zeros lay there until the last of
/// them, and the others had copies. An array that is only read element by element is never stored.
///
/// Saves: the array's bytes from the first that starts from it to its last reader.
/// Requires: verified; the last pass that shares equal values has run.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Left alone: readers that only read the array stored, as a library does; arrays with control edges or placed by a
/// sharding.
/// Tests: tests/text/passes/separate-fills/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> separate_fills(Module& module);

}  // namespace lowtide::engine
