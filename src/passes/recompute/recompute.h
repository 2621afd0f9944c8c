#pragma once
/// Recomputes values for their late readers, where keeping them until then costs more than computing them again.
///
///     a = f(x)   b = dot(a, w)   c = g(b)               a = f(x)   b = dot(a, w)   c = g(b)
///     ...                                         ==>   ...
///     da = h(a, b, c, dc)                               a' = f(x)  b' = dot(a', w)   c' = g(b')
///                                                       da = h(a', b', c', dc)
///
/// A training step keeps values of its forward pass for its gradients; most bytes are live between the two. Each value
/// that is live at the fullest moment and read later is either kept, at `price` ns per byte, or recomputed, at its
/// modelled time, from values that are kept or recomputed: the cheapest choice is a minimum cut (keep_or_make.h).
/// Products, convolutions, loops and calls without effects can be recomputed like anything else. Values are recomputed
/// just before the first that reads them, once. Then another moment is the fullest, for which the same is done, until
/// nothing changes. At a second price, more is recomputed where later moments have room for it (in_room.h).
///
/// The order is the computation's own or a depth-first one, whichever needs less; the computation is left in it.
///
/// Requires: verified, no calls.  Keeps: roots, donation.  Breaks: schedule.
/// Numerics: exact: the same operations on the same values.
/// Before that, what loops save for later loops is chosen in the same way (recompute_stacks.h).
/// Not recomputed: operations with effects, and what control edges hold. Only moments of the entry are considered.
/// Tests: tests/text/passes/recompute/

#include "passes/pass.h"
#include "passes/recompute/in_room.h"
#include "passes/recompute/recompute_stacks.h"

namespace lowtide::engine {

/// At one moment: those of the values up to the instruction `last` that are recomputed for later readers, by name.
struct MadeAgain {
  std::string last;
  std::vector<std::string> made;
};
/// What was done: the entry's order, by name, then what loops save, then the moments one after the other, then what is
/// recomputed in the room of later moments.
struct Recomputed {
  std::vector<std::string> order;
  std::vector<StacksChoice> stacks;
  std::vector<MadeAgain> moments;
  std::vector<MadeInRoom> in_room;
};

/// The cost of keeping a byte, in ns: what can be recomputed for less is recomputed.
struct RecomputePrice {
  double ns_per_byte = 0;
  double in_room = 0;  ///< then also where later moments have room (in_room.h); 0: not at all
  bool operator==(const RecomputePrice&) const = default;
};

Result<PassResult> recompute(Module& module, const Target& target, RecomputePrice price, Recomputed* done = nullptr);

/// Does the same in a module with the same names and other extents, in which some other instructions may be missing or
/// added, since other extents can make other rewrites worthwhile. False: it isn't possible there, or nothing is
/// recomputed.
bool recompute_alike(Module& module, const Target& target, const Recomputed& done);

/// A price, and its effect.
struct RecomputeOffer {
  RecomputePrice price;
  int64_t most = 0;  ///< most bytes live in the entry, by a model
  double ns = 0;     ///< additional time
};
/// Prices that give ever fewer live bytes for ever more time; none if nothing is gained.
std::vector<RecomputeOffer> recompute_offers(const Module& module, const Target& target);

}  // namespace lowtide::engine
