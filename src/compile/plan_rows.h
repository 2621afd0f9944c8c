#pragma once
/// Which passes ("rows" of the pipeline) a plan runs, and the place of its own streams among them.

#include "compile/decisions.h"
#include "passes/pass.h"

namespace lowtide::engine {

/// The rows that every plan runs.
std::vector<Pass> shared_rows(const Target& target);
/// The passes after them, up to those that make the decisions' streams. found: streams that passes make by default.
std::vector<Pass> rows_to_streams(const Decisions& decisions, const Target& target, std::vector<StreamDecision>& found);
/// The pass for a decision among the streams: a stream, or a `recompute`; none for others. The decision must outlive
/// it.
std::vector<Pass> rows_among_streams(const Decision& decision);
/// The passes after the streams.
std::vector<Pass> rows_behind_streams(const Decisions& decisions, const Target& target);
/// All passes of the plan.
std::vector<Pass> whole_pipeline(const Decisions& decisions, const Target& target, std::vector<StreamDecision>& found);

/// The decisions that determine the module with all streams.
Decisions streaming_part(const Decisions& decisions);
/// Decisions that make the same plan, with these streams instead of passes that would find them.
Decisions spelt_with(const Decisions& decisions, const std::vector<StreamDecision>& found);

}  // namespace lowtide::engine
