#pragma once
/// Puts a function that anybody can compute for what can't be run here: calls that nobody here knows, and collectives
/// (ops/stand_in.h). Not a rewrite of anybody's program: comparisons of plans are made of the result,
/// which hold for whatever the call computes, as plans know nothing of it either.
///
/// Requires: verified.  Keeps: names, shapes, donation, schedule.
/// Left as it is: what has effects or a control edge, asynchronous halves, results that are no arrays.
/// Tests: tests/unit/stand_in_test.cpp

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> stand_in(Module& module);

}  // namespace lowtide::engine
