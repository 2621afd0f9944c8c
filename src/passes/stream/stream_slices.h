#pragma once
/// Streams (passes/stream/stream.h) large intermediates wherever that costs next to no time: the batches and heads of
/// attention, the rows of a loss over a vocabulary with the gradients that are summed over them, the columns of a
/// scatter.
///
/// Each tile starts the kernels anew, and reads again what doesn't have the dimension; both together, with what is made
/// twice, may cost 5 % of the modelled time. Bodies of the loops made here are looked at once more: heads within
/// batches.
///
/// Requires: verified, no calls.  Keeps: roots, donation.  Breaks: schedule.
/// Numerics: reassociated (sums over the dimension are folded tile by tile), exact where Module::sums_in_order.
/// Tests: tests/text/passes/stream-slices/

#include "passes/pass.h"
#include "passes/stream/stream.h"

namespace lowtide::engine {

Result<PassResult> stream_slices(Module& module, const Target& target);
/// The same; appends what it decided on, in order.
Result<PassResult> stream_slices(Module& module, const Target& target, std::vector<StreamDecision>& decisions);

}  // namespace lowtide::engine
