#pragma once
/// Gives every loop and every conditional its own computations.
///
///     a = while(x), condition=c, body=b            a = while(x), condition=c,   body=b
///     d = while(y), condition=c, body=b     ==>    d = while(y), condition=c.1, body=b.1
///
/// Saves nothing by itself. Memory is planned on one timeline, in which a body that runs at two places has two sets of
/// lifetimes; with one caller per body an instruction has one place.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not separated: bodies that would grow the module beyond kMostInlined instructions; reducers, comparators and other
///   bodies that run inside one operation.
/// Tests: tests/text/passes/separate-bodies/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> separate_bodies(Module& module);

}  // namespace lowtide::engine
