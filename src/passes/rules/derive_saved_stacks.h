#pragma once
/// Avoids saving values for a later loop that it can compute from other saved values.
///
///     while (i, ..): a = f(xs[i])        ys[i] = a         while (i, ..): a = f(xs[i])     ys[i] = a
///                    b = cosine(a)       zs[i] = b    ==>
///     while (j, ..): .. ys[j] .. zs[j]                     while (j, ..): .. ys[j] .. cosine(ys[j])
///
/// Saves bytes(zs) for each stack: a scan under grad saves every value its backward loop reads, the arguments of one
/// product and the product as well.
///
/// A stack is derived if each iteration of the loop that fills it writes one slice, in order; if the slice is computed,
/// by elementwise work, moves, sums of no more elements than it has, and products of much smaller operands (scores of
/// queries and keys), from slices of other stacks, loop invariants, the counter, or values so much smaller that they
/// are saved in its place (the state with which an iteration begins); and if it is only read slice by slice in later
/// loops. It must be profitable: values that must live longer for it are small, and recomputing the slices costs less
/// than reading them, or less than `most_time` of the reading loop's modelled time. A plan may decide to derive at any
/// price (`derive-stacks`).
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same operations on the same values.
/// Not derived: stacks that pass through a loop in between, that are results, or that are read as a whole.
/// Tests: tests/text/passes/derive-saved-stacks/

#include <string>
#include <vector>

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr double kMostDeriveTime = 0.03;

Result<PassResult> derive_saved_stacks(Module& module, const Target& target);

/// A derived stack: the loop that filled it, as `computation instruction`, and by name, in its body, the value that
/// filled it, the operands and operations from which its slices are computed, and what is saved in its place.
struct DerivedStack {
  std::string loop, value;
  std::vector<std::string> inputs, ops, saved;
};

/// `most_time`: the time that deriving may add to a loop, relative to its own.
Result<PassResult> derive_saved_stacks_for(Module& module, const Target& target, double most_time,
                                           std::vector<DerivedStack>* done = nullptr);

/// Derives the same stacks in a module with the same names and other extents, whatever that saves there.
Result<PassResult> derive_saved_stacks_alike(Module& module, const Target& target,
                                             const std::vector<DerivedStack>& done);

}  // namespace lowtide::engine
