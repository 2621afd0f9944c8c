#pragma once
/// Evaluates predicates that are the same for every element, and simplifies what they select.
///
///     compare(s, s), EQ          s of integers           true       segments that equal themselves
///     compare(iota, 4096), LT    4096 long       ==>     true       indices inside their array
///     and(p, true), or(p, false)                         p
///     select(true, a, b), select(p, a, a)                a
///     select(i < 0, i + n, i)    i counts a loop's trips i
///
/// Saves redundant masks, in attention over one segment or around gathers that fill out-of-bounds elements, and their
/// operands: segments, indices.
///
/// Values are equal if they broadcast one value in the same way, or the same scalar everywhere; integers are compared
/// by the least and greatest they can be (passes/rules/integer_ranges.h).
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not decided: a float compared with itself, which may be NaN.
/// Tests: tests/text/passes/decide-predicates/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> decide_predicates(Module& module);

}  // namespace lowtide::engine
