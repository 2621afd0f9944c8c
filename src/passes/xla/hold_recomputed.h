#pragma once
/// Keeps recomputed values from being merged with the original ones.
///
///     b = dot(a, w)  c = g(b)                            b = dot(a, w)  c = g(b)
///     ...                                                ...
///     b' = dot(a, w)                               ==>   (a', w', dc') = opt-barrier(a, w, dc)
///     da = h(b', dc)                                     b' = dot(a', w')
///                                                        da = h(b', dc')
///
/// Saves what `recompute` (passes/recompute) saves: XLA merges equal operations and computes them as early as their
/// operands allow. What a run of recomputed values reads from outside passes a barrier, together with the latest stored
/// value that is still read, such as the gradient that arrives at a layer; its later readers read it through the
/// barrier. Values that are computed where they are read are made again with them, since a barrier would store them.
///
/// Requires: verified, no calls; the entry's order is the one that `recompute` left.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not held: values recomputed from constants alone.
/// Tests: tests/text/passes/hold-recomputed/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> hold_recomputed(Module& module);

}  // namespace lowtide::engine
