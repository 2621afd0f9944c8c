#pragma once
/// Gives every operation that a rewrite created the metadata of the operation it replaces, so that profiles and reports
/// of other tools name the user's operations.
///
///     d = f32[8,4] dot(x, w), metadata={op_name="f/dot"}         d = f32[8,4] dot(x, w), metadata={op_name="f/dot"}
///     u = f32[64,4] dynamic-update-slice(y, d, i, 0)      ==>    u = f32[64,4] dynamic-update-slice(y, d, i, 0),
///                                                                    metadata={op_name="f/dot"}
///
/// Saves nothing. The origin is that of the nearest operand that has one, else of the nearest reader; of a loop, that
/// of the largest result in its body.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not named: anything in a module without metadata; parameters, constants.
/// Tests: tests/text/passes/name-origins/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> name_origins(Module& module);

}  // namespace lowtide::engine
