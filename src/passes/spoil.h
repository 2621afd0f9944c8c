#pragma once
/// Makes a module wrong on purpose, as a control for checks.
///
///     ROOT y = f32[8] add(a, b)     ==>     y = f32[8] add(a, b)
///                                           ROOT spoilt = f32[8] negate(y)
///
/// Saves nothing. Negates the first result that is an array of floats; no change if there is none.
/// Requires: verified.  Keeps: schedule, donation.  Breaks: a result.
/// Tests: tests/stream_check.cpp --control, tests/command/fit.py

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spoil(Module& module);

}  // namespace lowtide::engine
