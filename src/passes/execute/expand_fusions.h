#pragma once
/// Replaces a fusion by its body.
///
///     fused { p = f32[8] parameter(0)                         ENTRY {
///             ROOT r = f32[8] negate(p) }                       x = f32[8] parameter(0)
///     ENTRY { x = f32[8] parameter(0)                  ==>      ROOT r = f32[8] negate(x)
///             ROOT c = f32[8] fusion(x), calls=fused }        }
///
/// Saves nothing by itself. A fusion in a compiled program shows which values its compiler's kernels kept in registers;
/// here that is decided anew, to save memory, by forming regions (region/work.h), and a fusion would only hide its
/// operations.
///
/// Requires: verified.  Keeps: roots, donation, schedule (a body runs where its fusion stood).
/// Numerics: exact.
/// Not expanded: fusions that control edges hold; those beyond kMostInlined instructions.
/// Tests: tests/text/passes/expand-fusions/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> expand_fusions(Module& module);

}  // namespace lowtide::engine
