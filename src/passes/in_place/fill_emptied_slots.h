#pragma once
/// Lets the stacks that a loop fills lie in the slots of a stack that it empties, whatever their shapes: the gradients
/// of a layer's weights take the place of what the layer began with.
///
///     while (i, xs, gs, hs = 0):                         while (i, xs):
///       g, h = f(xs[j])                                    g, h = f(xs[j])
///       gs[j] = g, hs[j] = h                      ==>      xs[j, 0:4] = reshape(g), xs[j, 4:6] = reshape(h)
///     use(gs, hs)                                        use(reshape(xs[:, 0:4]), reshape(xs[:, 4:6]))
///
/// Saves bytes(gs) + bytes(hs). A trip holds its slices until it has read the slot.
///
/// A stack is emptied where another loop made it, each trip reads one slot, in loops within as well, nobody reads it
/// behind the loop, and no slot is read after the trip that fills it. Stacks are filled where each trip writes one
/// slot, all trips write all slots, and elementwise work and reductions alone read them behind the loop, which read a
/// part of a slot as they go. A slice is a run of whole rows of the slot, written in as many pieces as it takes. What
/// is emptied lives on until all that fill it are read: they must fill half of it.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.  Numerics: exact.
/// Not done: stacks of other types, arguments, modules that are still to be partitioned.
/// Tests: tests/text/passes/fill-emptied-slots/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> fill_emptied_slots(Module& module);

}  // namespace lowtide::engine
