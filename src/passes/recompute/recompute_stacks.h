#pragma once
/// Chooses the cheapest values to save for a later loop: either the values that a loop stacks, or values from which the
/// later loop can recompute them.
///
///     while (i, x): h = dot(x, w)  a = g(h)          while (i, x): h = dot(x, w)  a = g(h)
///                   hs[i] = h  as[i] = a                           xs[i] = x
///     while (j, d): .. hs[j] .. as[j]          ==>   while (j, d): h' = dot(xs[j], w)  a' = g(h')
///                                                                  .. h' .. a'
///
/// A value of the first loop's body is available in the second one if it is saved, at `price` ns a byte, or if it is
/// recomputed, at its modelled time, from others that are available. What the second loop computes from slices can also
/// be computed and saved in the first one, if it is smaller (later_values.h). The cheapest choice for all of them is a
/// minimum cut (keep_or_make.h). Loop invariants and the counter are available anyway.
///
/// Every program gets the choice at a price at which recomputing is cheaper than writing and reading, or takes little
/// of the later loop's time (`recompute_cheap_stacks`); plans may choose higher prices (recompute.h).
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same operations on the same values.
/// Not considered: stacks that pass through a loop in between, that are results, or that aren't read slice by slice in
/// a single later loop.
/// Tests: tests/text/passes/recompute-stacks/

#include <string>
#include <unordered_map>
#include <vector>

#include "passes/pass.h"
#include "passes/recompute/keep_or_make.h"

namespace lowtide::engine {

/// For one loop and one reader of its stacks at one place, each named as `computation instruction`: what is kept and
/// what is recomputed, by the names of the first body's instructions, and which of the reader's values are saved.
struct StacksChoice {
  std::string loop, reader, place;
  std::unordered_map<std::string, KeepOrMake::Choice> choices;
  std::vector<std::string> later;
};

std::vector<StacksChoice> recompute_stacks(Module& module, const Target& target, double ns_per_byte);
Result<PassResult> recompute_cheap_stacks(Module& module, const Target& target);

/// Does the same in a module with the same names, whose bodies may have a few other instructions. False: it lacks these
/// loops.
bool recompute_stacks_alike(Module& module, const StacksChoice& choice);

}  // namespace lowtide::engine
