#pragma once
/// Replaces a multi-dimensional iota by a broadcast of a one-dimensional one.
///
///     i = s32[N,M] iota(), iota_dimension=0   ==>   l = s32[N] iota();  i = s32[N,M] broadcast(l), dimensions={0}
///
/// Saves nothing by itself: indices then have one form, and a slice of them adds its start to a line, not to an array,
/// so that plans don't depend on the form.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Tests: tests/text/passes/spell-iotas/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_iotas(Module& module);

}  // namespace lowtide::engine
