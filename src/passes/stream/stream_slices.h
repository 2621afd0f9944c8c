#pragma once
/// Streams (passes/stream/stream.h) large intermediates wherever that costs almost no time: the batches and heads of
/// attention, the rows of a loss over a vocabulary with the gradients that are summed over them, the columns of a
/// scatter.
///
/// Each tile starts the kernels again, and rereads operands without the dimension; both together, with recomputation,
/// may cost 5 % of the modelled time. Bodies of the new loops are examined once more: heads within batches.
///
/// Requires: verified, no calls.  Keeps: roots, donation.  Breaks: schedule.
/// Numerics: reassociated (sums over the dimension are folded tile by tile), exact where Module::sums_in_order.
/// Tests: tests/text/passes/stream-slices/

#include "passes/pass.h"
#include "passes/stream/stream.h"

namespace lowtide::engine {

Result<PassResult> stream_slices(Module& module, const Target& target);
/// The same; appends its decisions, in order.
Result<PassResult> stream_slices(Module& module, const Target& target, std::vector<StreamDecision>& decisions);

}  // namespace lowtide::engine
