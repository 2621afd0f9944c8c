#pragma once
/// Streams operations that read neighbours: all stages of a step of a stencil run on a few rows after each other, then
/// on the next few.
///
///     h = while: h + rolled(h, 1) ...        ==>   while r < n - 2:  rows = h[r-1 : r+T+1], some of them saved before
///         with several stages, each whole             all stages on T rows and the adjacent ones that are still needed
///                                                      h[r : r+T] = ...
///
/// Rolls, pads, concatenations and updates at constant places consist of pieces that are rows of something; where
/// pieces meet, and at the first and last rows, the same operations run separately, only on the rows there. Outputs are
/// written over inputs without other readers: the rows of these that the next tile still needs are loop-carried.
///
/// Saves what the stages stored; costs kernel starts, and the rows that two tiles compute: at most 5 % of the modelled
/// time.
/// Requires: verified, no calls.  Keeps: roots, donation.  Breaks: schedule.
/// Numerics: exact (a library's dot of a tile may sum in another order than the dot of the whole: where
///   Module::sums_in_order, products that are worth a library don't join).
/// Tests: tests/text/stream/ (every way, against the interpreter), tests/text/passes/stream-windows/

#include "passes/pass.h"
#include "passes/stream/stream.h"

namespace lowtide::engine {

Result<PassResult> stream_windows(Module& module, const Target& target);
/// The same; appends its decisions, in order.
Result<PassResult> stream_windows(Module& module, const Target& target, std::vector<StreamDecision>& decisions);

}  // namespace lowtide::engine
