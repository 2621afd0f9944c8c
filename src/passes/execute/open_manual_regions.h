#pragma once
/// Takes the border of manually partitioned regions apart, where one of several devices is planned for.
///
///     p = (f32[2,4], f32[8]) custom-call(x, y), custom_call_target="xla.sdy.GlobalToLocalShape"
///     a = f32[2,4] get-tuple-element(p), index=0
///     r = f32[2,4] call(a, ...), to_apply=body, frontend_attributes={inlineable="false"}
///   ==>
///     a = f32[2,4] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape"
///     r = f32[2,4] call(a, ...), to_apply=body
///
/// Saves nothing by itself: a call with one operand and one result is that operand under another shape, and a body that
/// is inlined is planned with what surrounds it. A partitioner needs both as they were.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not done: modules that don't state the parts of one device (analysis/partitioning.h): they are run, or handed on.
/// Tests: tests/text/passes/open-manual-regions/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> open_manual_regions(Module& module);

}  // namespace lowtide::engine
