#include "compile/plan_rows.h"

#include <algorithm>

#include "passes/canonicalise/remove_dead_code.h"
#include "passes/recompute/offload.h"
#include "passes/recompute/recompute.h"
#include "passes/recompute/save_every.h"
#include "passes/rules/hoist_loop_invariants.h"
#include "passes/rules/update_where_it_is_made.h"
#include "passes/stream/stream_slices.h"
#include "passes/windows/stream_windows.h"

namespace lowtide::engine {
namespace {

size_t row_named(std::string_view name, const Target& target) {
  const std::vector<Pass>& all = pipeline_of(target);
  return static_cast<size_t>(std::ranges::find(all, name, &Pass::name) - all.begin());
}
/// The pass at which plans start to differ, and the one after which their own streams are made.
size_t parting_row(const Target& target) {
  return row_named(target.takes() == Takes::kModule ? kDecidedStreams : kStreaming.front(), target);
}
size_t streaming_row(const Target& target) {
  return row_named(target.takes() == Takes::kModule ? kDecidedStreams : kStreaming.back(), target);
}

bool leaves_out(const Decisions& decisions, std::string_view pass) {
  return std::ranges::any_of(decisions, [&](const Decision& d) {
    const auto* without = std::get_if<WithoutPass>(&d);
    return without != nullptr && without->pass == pass;
  });
}

/// The decision must outlive the pass.
Pass stream_row(const StreamDecision& decision) {
  return {"stream", [&decision](Module& m, const Target& target) { return stream(m, target, decision); },
          Numerics::kReassociated, "decided for this module", Numerics::kExact};
}

std::vector<Pass> recompute_rows(const Recompute& again) {
  const auto run = [price = again.price](Module& m, const Target& t) { return recompute(m, t, price); };
  return {{"remove-dead-code", remove_dead_code, Numerics::kExact, "what streams before it made in tiles"},
          {"recompute", run, Numerics::kExact, "decided for this module"},
          {"remove-dead-code", remove_dead_code, Numerics::kExact, "what is only read late"}};
}

void append(std::vector<Pass>& rows, std::vector<Pass> more) { std::ranges::move(more, std::back_inserter(rows)); }

}  // namespace

std::vector<Pass> rows_among_streams(const Decision& decision) {
  if (const auto* stream = std::get_if<StreamDecision>(&decision)) return {stream_row(*stream)};
  if (const auto* again = std::get_if<Recompute>(&decision)) return recompute_rows(*again);
  return {};
}

Decisions streaming_part(const Decisions& decisions) {
  Decisions part;
  for (const Decision& d : decisions) {
    const bool before =
        std::holds_alternative<StreamDecision>(d) || std::holds_alternative<WithoutPass>(d) || comes_before_streams(d);
    if (before) part.push_back(d);
  }
  return part;
}

std::vector<Pass> rows_to_streams(const Decisions& decisions, const Target& target,
                                  std::vector<StreamDecision>& found) {
  const std::vector<Pass>& all = pipeline_of(target);
  std::vector<Pass> rows;
  const size_t first = first_stream(decisions);
  for (size_t k = 0; k < first; ++k) {
    if (const auto* again = std::get_if<Recompute>(&decisions[k])) append(rows, recompute_rows(*again));
  }
  if (has<HoistLoopInvariants>(decisions)) {
    rows.push_back({"hoist-loop-invariants", hoist_loop_invariants, Numerics::kExact, "decided for this module"});
    rows.push_back({"remove-dead-code", remove_dead_code, Numerics::kExact, "what stands before the loop now"});
  }
  for (const Decision& decision : decisions) {
    const auto* every = std::get_if<SaveEvery>(&decision);
    if (every == nullptr) continue;
    const auto run = [grouping = every->grouping](Module& m, const Target&) { return save_every(m, grouping); };
    rows.push_back({"save-every", run, Numerics::kExact, "decided for this module"});
    rows.push_back({"remove-dead-code", remove_dead_code, Numerics::kExact, "what is no longer saved"});
  }
  for (const Decision& decision : decisions) {
    const auto* offloaded = std::get_if<Offload>(&decision);
    if (offloaded == nullptr) continue;
    const auto run = [count = offloaded->count](Module& m, const Target&) { return offload(m, count); };
    rows.push_back({"offload", run, Numerics::kExact, "decided for this module"});
    rows.push_back({"remove-dead-code", remove_dead_code, Numerics::kExact, "names of what left"});
  }
  if (has<UpdateInLoops>(decisions)) {
    rows.push_back({"update-where-it-is-made", update_where_it_is_made, Numerics::kReassociated,
                    "decided for this module", Numerics::kExact});
    rows.push_back({"remove-dead-code", remove_dead_code, Numerics::kExact, "stacks that nobody fills any more"});
  }
  for (size_t k = parting_row(target); k <= streaming_row(target); ++k) {
    if (leaves_out(decisions, all[k].name)) continue;
    rows.push_back(all[k]);
    if (all[k].name == kStreaming[0])
      rows.back().run = [&found](Module& m, const Target& t) { return stream_windows(m, t, found); };
    if (all[k].name == kStreaming[1])
      rows.back().run = [&found](Module& m, const Target& t) { return stream_slices(m, t, found); };
  }
  for (size_t k = first; k < decisions.size(); ++k) append(rows, rows_among_streams(decisions[k]));
  return rows;
}

std::vector<Pass> rows_behind_streams(const Decisions& decisions, const Target& target) {
  const std::vector<Pass>& all = pipeline_of(target);
  std::vector<Pass> rows(all.begin() + static_cast<std::ptrdiff_t>(streaming_row(target)) + 1, all.end());
  std::erase_if(rows, [&](const Pass& row) { return leaves_out(decisions, row.name); });
  return rows;
}

Decisions spelt_with(const Decisions& decisions, const std::vector<StreamDecision>& found) {
  Decisions all;
  const size_t first = first_stream(decisions);
  const auto comes_first = [&](size_t k) { return k < first && comes_before_streams(decisions[k]); };
  for (size_t k = 0; k < decisions.size(); ++k) {
    if (comes_first(k)) all.push_back(decisions[k]);
  }
  for (const std::string_view row : kStreaming) all.emplace_back(WithoutPass{std::string(row)});
  for (const StreamDecision& stream : found) all.emplace_back(stream);
  for (size_t k = 0; k < decisions.size(); ++k) {
    if (comes_first(k)) continue;
    const auto* without = std::get_if<WithoutPass>(&decisions[k]);
    const bool is_said = without != nullptr && std::ranges::find(kStreaming, without->pass) != kStreaming.end();
    if (!is_said) all.push_back(decisions[k]);
  }
  return all;
}

std::vector<Pass> shared_rows(const Target& target) {
  const std::vector<Pass>& all = pipeline_of(target);
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(parting_row(target))};
}

std::vector<Pass> whole_pipeline(const Decisions& decisions, const Target& target, std::vector<StreamDecision>& found) {
  std::vector<Pass> rows = shared_rows(target);
  append(rows, rows_to_streams(decisions, target, found));
  append(rows, rows_behind_streams(decisions, target));
  return rows;
}

}  // namespace lowtide::engine
