#pragma once
/// Saves for a later loop the cheapest of what it needs: what a loop fills a stack with is saved, or what it can be
/// made of, and recomputed in the loop that reads it.
///
///     while (i, x): h = dot(x, w)  a = g(h)          while (i, x): h = dot(x, w)  a = g(h)
///                   hs[i] = h  as[i] = a                           xs[i] = x
///     while (j, d): .. hs[j] .. as[j]          ==>   while (j, d): h' = dot(xs[j], w)  a' = g(h')
///                                                                  .. h' .. a'
///
/// A value of the first loop's body is there in the second one if it is saved, at `price` ns a byte, or if it is made
/// again, at its modelled time, of others that are there: the cheapest choice of all (keep_or_make.h). What no
/// iteration changes and the counter are there anyway.
///
/// Numerics: exact.  Not looked at: stacks that are read otherwise than slice by slice in one later loop.

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/module.h"
#include "passes/recompute/keep_or_make.h"
#include "target/target.h"

namespace lowtide::engine {

/// For one loop and one that reads its stacks at one place, each named as `computation instruction`: what is kept and
/// made, by the names of the first body's instructions.
struct StacksChoice {
  std::string loop, reader, place;
  std::unordered_map<std::string, KeepOrMake::Choice> choices;
};

std::vector<StacksChoice> recompute_stacks(Module& module, const Target& target, double ns_per_byte);

/// In a module of the same names, in whose body a few other instructions may stand. False: it has no such loops.
bool recompute_stacks_alike(Module& module, const StacksChoice& choice);

}  // namespace lowtide::engine
