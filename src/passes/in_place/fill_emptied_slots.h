#pragma once
/// Lets the stacks that a loop fills share the slots of a stack that it empties, whatever their shapes: the gradients
/// of a layer's weights take the place of the layer's saved input.
///
///     while (i, xs, gs, hs = 0):                         while (i, xs):
///       g, h = f(xs[j])                                    g, h = f(xs[j])
///       gs[j] = g, hs[j] = h                      ==>      xs[j, 0:4] = reshape(g), xs[j, 4:6] = reshape(h)
///     use(gs, hs)                                        use(reshape(xs[:, 0:4]), reshape(xs[:, 4:6]))
///
/// Saves bytes(gs) + bytes(hs). An iteration holds its slices until it has read the slot.
///
/// A stack counts as emptied if another loop filled it, each iteration reads one slot (inner loops included), it isn't
/// read after the loop, and no slot is read after the iteration that fills it. A stack counts as filled if each
/// iteration writes one slot, all iterations write all slots, and after the loop only elementwise operations and
/// reductions read it, a part of a slot at a time. A slice is a run of whole rows of the slot, written in as many
/// pieces as necessary. An emptied stack stays live until all that fill it have been read: they must fill half of it.
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.  Numerics: exact.
/// Not done: stacks of other types, arguments, modules that are still to be partitioned.
/// Tests: tests/text/passes/fill-emptied-slots/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> fill_emptied_slots(Module& module);

}  // namespace lowtide::engine
