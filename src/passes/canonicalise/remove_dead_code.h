#pragma once
/// Removes what isn't needed, element by element through loops, branches and calls.
///
///     w = (s32[], f32[8], f32[9]) while(t), ...            w = (s32[], f32[8]) while(t2), ...
///     r = f32[8] get-tuple-element(w), index=1     ==>     r = f32[8] get-tuple-element(w), index=1
///     (element 2 is only read to make element 2)
///
/// Saves bytes(element) for each dead loop-carried element, twice if the loop keeps two copies of it; bytes(argument)
/// during the call for each dead argument of a call; bytes(value) for a dead value that an executor would have
/// computed.
///
/// Removed: instructions without a needed reader; elements of tuples, opt-barriers, loop carries, branch and call
///   arguments and results that are dead or only feed themselves; computations that nothing calls any more.
///
/// Kept: operations with side effects (infeed, outfeed, send, recv, stateful random bits, custom calls that state them,
///   check.*) and all that they need; the entry's parameters, used or not, and so every alias and donor; operands and
///   results of operations that return or read a tuple as a whole; loops and calls whose attributes count elements
///   (known induction variables, Shardy's shardings and manual regions, composites); those that control edges hold.
///
/// A loop without live elements and side effects is removed, whether it would have ended or not.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Tried and rejected: repeated backward sweeps until nothing changes: a chain of n loops, each fed by the previous
/// one's dead element, took n sweeps. One fixpoint over all elements (live_elements.h) sees them at once.
/// Tests: tests/text/passes/remove-dead-code/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> remove_dead_code(Module& module);

}  // namespace lowtide::engine
