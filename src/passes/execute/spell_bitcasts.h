#pragma once
/// Replaces a bitcast by its effect on indices: a reshape, between transposes if layouts differ.
///
///     b = f32[12]{0} bitcast(x), x f32[3,4]{1,0}         b = f32[12] reshape(x)
///     c = f32[4,3]{1,0} bitcast(y), y f32[3,4]{0,1}  ==> c = f32[4,3] transpose(y), dimensions={1,0}
///
/// Saves nothing by itself. A compiled program has a bitcast wherever its layouts make a move free; rules understand
/// only reshapes and transposes.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not rewritten: tiled layouts, other element types.
/// Tests: tests/text/passes/spell-bitcasts/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_bitcasts(Module& module);

}  // namespace lowtide::engine
