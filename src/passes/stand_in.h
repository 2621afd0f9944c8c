#pragma once
/// Replaces what can't be run here, unknown calls and collectives, by a computable function (ops/stand_in.h). Only for
/// comparing plans: plans don't depend on what a call computes, so the comparison also holds for the real call.
///
/// Requires: verified.  Keeps: names, shapes, donation, schedule.
/// Not replaced: operations with effects or a control edge, asynchronous halves, results that are no arrays.
/// Tests: tests/unit/stand_in_test.cpp

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> stand_in(Module& module);

}  // namespace lowtide::engine
