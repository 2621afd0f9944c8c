#include "compile/plan_rows.h"

#include <algorithm>
#include <limits>

#include "passes/canonicalise/remove_dead_code.h"
#include "passes/recompute/recompute.h"
#include "passes/recompute/save_every.h"
#include "passes/rules/derive_saved_stacks.h"
#include "passes/rules/saved_stacks.h"
#include "passes/rules/update_where_it_is_made.h"
#include "passes/spoil.h"
#include "passes/stream/stream_slices.h"
#include "passes/windows/stream_windows.h"

namespace lowtide::engine {
namespace {

size_t row_named(std::string_view name, const Target& target) {
  const std::vector<Pass>& all = pipeline_of(target);
  return static_cast<size_t>(std::ranges::find(all, name, &Pass::name) - all.begin());
}
/// The row at which plans part, and the one behind which their own streams stand.
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

}  // namespace

Result<PassResult> derive_all_stacks(Module& module, const Target& target, std::vector<DerivedStack>* done) {
  return derive_saved_stacks_for(module, target, std::numeric_limits<double>::infinity(), done);
}

Pass stream_row(const StreamDecision& decision) {
  return {"stream", [&decision](Module& m, const Target& target) { return stream(m, target, decision); },
          Numerics::kReassociated, "decided for this module", Numerics::kExact};
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
  if (has<DeriveStacks>(decisions)) {
    const auto derive = [](Module& m, const Target& t) { return derive_all_stacks(m, t); };
    rows.push_back({"derive-stacks", derive, Numerics::kExact, "decided for this module"});
    rows.push_back({"remove-dead-code", remove_dead_code, Numerics::kExact, "what is no longer saved"});
  }
  for (const Decision& decision : decisions) {
    const auto* again = std::get_if<Recompute>(&decision);
    if (again == nullptr) continue;
    const auto run = [price = again->ns_per_byte](Module& m, const Target& t) { return recompute(m, t, price); };
    rows.push_back({"recompute", run, Numerics::kExact, "decided for this module"});
    rows.push_back({"remove-dead-code", remove_dead_code, Numerics::kExact, "what is only read late"});
  }
  for (const Decision& decision : decisions) {
    const auto* every = std::get_if<SaveEvery>(&decision);
    if (every == nullptr) continue;
    const auto run = [grouping = every->grouping](Module& m, const Target&) { return save_every(m, grouping); };
    rows.push_back({"save-every", run, Numerics::kExact, "decided for this module"});
    rows.push_back({"remove-dead-code", remove_dead_code, Numerics::kExact, "what is no longer saved"});
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
  for (const Decision& decision : decisions) {
    if (const auto* stream = std::get_if<StreamDecision>(&decision)) rows.push_back(stream_row(*stream));
    if (std::holds_alternative<Spoilt>(decision)) rows.push_back({"spoil", spoil, Numerics::kOptIn, "a control"});
  }
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
  std::ranges::copy_if(decisions, std::back_inserter(all), comes_before_streams);
  for (const std::string_view row : kStreaming) all.emplace_back(WithoutPass{std::string(row)});
  for (const StreamDecision& stream : found) all.emplace_back(stream);
  for (const Decision& decision : decisions) {
    if (comes_before_streams(decision)) continue;
    const auto* without = std::get_if<WithoutPass>(&decision);
    if (without == nullptr || std::ranges::find(kStreaming, without->pass) == kStreaming.end()) all.push_back(decision);
  }
  return all;
}

std::vector<Pass> shared_rows(const Target& target) {
  const std::vector<Pass>& all = pipeline_of(target);
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(parting_row(target))};
}

std::vector<Pass> whole_pipeline(const Decisions& decisions, const Target& target, std::vector<StreamDecision>& found) {
  std::vector<Pass> rows = shared_rows(target);
  for (const auto& more : {rows_to_streams(decisions, target, found), rows_behind_streams(decisions, target)}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace lowtide::engine
