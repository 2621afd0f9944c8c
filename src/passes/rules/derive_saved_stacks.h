#pragma once
/// Doesn't save for a later loop what that loop can make of other saved values.
///
///     while (i, ..): a = f(xs[i])        ys[i] = a         while (i, ..): a = f(xs[i])     ys[i] = a
///                    b = cosine(a)       zs[i] = b    ==>
///     while (j, ..): .. ys[j] .. zs[j]                     while (j, ..): .. ys[j] .. cosine(ys[j])
///
/// Saves bytes(zs) for each stack: a scan under grad saves every value its backward loop reads, the arguments of one
/// product and the product as well.
///
/// A stack is derived where each iteration of the loop that fills it puts one slice, in order, and the slice is made,
/// by elementwise work, moves, sums of no more elements than it has, and products of much smaller operands (scores of
/// queries and keys), of slices of other stacks, of what no iteration changes, of the counter, or of values so much
/// smaller that they are saved in its place (the state with which an iteration begins); and where nothing reads it but
/// slice by slice in later loops. It must pay: what must live longer for it is small, and making the slices again costs
/// less than reading them, or less than `most_time` of the reading loop's modelled time. A plan may decide to derive at
/// any price (`derive-stacks`).
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same operations on the same values.
/// Not derived: stacks that a loop in between hands on, that are results, or that are read as a whole.
/// Tests: tests/text/passes/derive-saved-stacks/

#include <string>
#include <vector>

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr double kMostDeriveTime = 0.03;

Result<PassResult> derive_saved_stacks(Module& module, const Target& target);

/// A stack that was derived: the loop that filled it, as `computation instruction`, and by name, in its body, the value
/// that filled it, what its slices are made of and by, and what is saved in its place.
struct DerivedStack {
  std::string loop, value;
  std::vector<std::string> inputs, ops, saved;
};

/// `most_time`: of a loop's own, what deriving may add to it.
Result<PassResult> derive_saved_stacks_for(Module& module, const Target& target, double most_time,
                                           std::vector<DerivedStack>* done = nullptr);

/// The same stacks in a module of the same names in other extents, whatever that saves there.
Result<PassResult> derive_saved_stacks_alike(Module& module, const Target& target,
                                             const std::vector<DerivedStack>& done);

}  // namespace lowtide::engine
