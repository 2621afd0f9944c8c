#pragma once
/// Writes barriers in the form that XLA:CPU keeps: as calls of an identity that mustn't be inlined.
///
///     t = (f32[N], f32[M]) opt-barrier(s)   ==>   t = (f32[N], f32[M]) call(s), to_apply=barrier,
///                                                     frontend_attributes={inlineable="false"}
///
/// XLA:CPU removes barriers before it merges equal operations, hoists what loops don't change, and decides what to
/// copy. A call that isn't inlined orders its operands before its users as a barrier does, nothing is fused with it,
/// and its results alias its operands. Other compilers keep barriers. inline-calls reads such calls as barriers.
///
/// Requires: last, but for names.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Tried: reading a loop's slices one iteration ahead, from what it has updated, which orders them without a barrier:
/// it helps stencils only, and stores the slices a second time.
/// Tests: tests/text/passes/spell-barriers/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_barriers(Module& module, const Target& target);

}  // namespace lowtide::engine
