#pragma once
/// Splits the boundary calls of manually partitioned regions, when planning for one of several devices.
///
///     p = (f32[2,4], f32[8]) custom-call(x, y), custom_call_target="xla.sdy.GlobalToLocalShape"
///     a = f32[2,4] get-tuple-element(p), index=0
///     r = f32[2,4] call(a, ...), to_apply=body, frontend_attributes={inlineable="false"}
///   ==>
///     a = f32[2,4] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape"
///     r = f32[2,4] call(a, ...), to_apply=body
///
/// Saves nothing by itself: a boundary call with one operand and one result is that operand with another shape, and an
/// inlined body is planned together with its surroundings. A partitioner needs both unchanged.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not done: modules that don't state one device's shards (analysis/partitioning.h): they are run, or returned.
/// Tests: tests/text/passes/open-manual-regions/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> open_manual_regions(Module& module);

}  // namespace lowtide::engine
