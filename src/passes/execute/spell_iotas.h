#pragma once
/// Writes an array that counts along one of its dimensions as a line that counts, broadcast.
///
///     i = s32[N,M] iota(), iota_dimension=0   ==>   l = s32[N] iota();  i = s32[N,M] broadcast(l), dimensions={0}
///
/// Saves nothing by itself: there is one spelling of indices then, and a slice of them adds its start to a line, not to
/// an array, so that plans don't depend on the spelling.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Tests: tests/text/passes/spell-iotas/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_iotas(Module& module);

}  // namespace lowtide::engine
