#include "compile/planned_cures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/sizes.h"
#include "compile/source_changes.h"
#include "compile/what_to_change.h"
#include "report/like_values.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kCureInstructions = 12'000;      ///< planned in total for the cures of one report
constexpr int64_t kMostCurePlans = 12;             ///< streams
constexpr int64_t kDonationInstructions = 12'000;  ///< planned in total for donations
constexpr int64_t kLeastDonation = 100;            ///< of the peak: smaller ones aren't worth a plan
constexpr int64_t kLeastSaved = 1000;              ///< of the peak: less counts as nothing
constexpr size_t kRows = 6, kStreamsOfRow = 2;
constexpr double kBearable = 0.1;  ///< of the free plan's time: the extra time that a stream may take

bool is_freed_by_plans(const PeakRow& row) {
  return row.category != Category::kParameter && row.category != Category::kOptimiserState &&
         row.category != Category::kConstant && row.category != Category::kResult && !row.made_by.empty();
}

/// The finest tile whose extra time is bearable, else the largest.
int64_t bearable_tile(const StreamCandidate& candidate, double ns) {
  int64_t chosen = candidate.tiles.front();
  for (const int64_t tile : candidate.tiles) {
    const int64_t parts = (candidate.extent + tile - 1) / tile;
    if (candidate.again_ns + static_cast<double>(parts) * candidate.ns_per_tile > kBearable * ns) break;
    chosen = tile;
  }
  return chosen;
}

class Streams {
 public:
  Streams(const Planner& planner, const FrontierPoint& free, const Module& module, int64_t plans)
      : planner_(planner), free_(free), module_(module), left_(plans) {}
  bool any_left() const { return left_ > 0; }

  /// Among the streams that hide the row's values, the one that saves most. Nothing if no plan was left to try one, or
  /// none could be planned.
  std::optional<Cure> best_for(const PeakRow& row) {
    const std::vector<const Instruction*> seeds = find_values(module_, row.made_by);
    if (seeds.empty()) return std::nullopt;
    std::optional<Cure> best;
    size_t tried = 0;
    for (const StreamCandidate& c : stream_candidates(module_, planner_.target(), seeds)) {
      if (tried == kStreamsOfRow) break;
      const auto key = std::make_tuple(c.decision.computation, c.extent, c.hidden_bytes, c.again_ns, c.ns_per_tile);
      const auto known = known_.find(key);
      if (known == known_.end() && left_ == 0) break;
      ++tried;
      const std::optional<Cure> cure = known != known_.end() ? known->second : (known_[key] = planned(c));
      if (cure && (!best || cure->bytes > best->bytes)) best = cure;
    }
    return best;
  }

 private:
  std::optional<Cure> planned(const StreamCandidate& candidate) {
    --left_;
    StreamDecision decision = candidate.decision;
    decision.tile = bearable_tile(candidate, free_.ns);
    Decisions decisions = free_.decisions;
    decisions.emplace_back(decision);
    const auto measured = planner_.measure(decisions);
    if (!measured.ok()) return std::nullopt;
    Cure cure;
    cure.decision = to_text(decision);
    cure.what =
        fmt::format("stream over dimension {} of %{} in tiles of {}", decision.dimension, decision.seed, decision.tile);
    cure.bytes = std::max<int64_t>(0, free_.peak_bytes - measured->peak_bytes);
    cure.more_time = measured->ns / free_.ns - 1;
    if (cure.bytes < free_.peak_bytes / kLeastSaved) cure.bytes = 0;
    if (cure.bytes == 0) cure.what += " alone leaves the peak: another moment, or another value, needs as much";
    return cure;
  }

  const Planner& planner_;
  const FrontierPoint& free_;
  const Module& module_;  ///< with the free plan's streams
  int64_t left_;          ///< plans
  std::map<std::tuple<std::string, int64_t, double, double, double>, std::optional<Cure>> known_;
};

/// Does the peak hold what loops save for other loops, and could these recompute some of it?
bool could_recompute(const Planner& planner, const FrontierPoint& free, const std::vector<PeakRow>& rows) {
  const bool saved = std::ranges::any_of(
      rows, [](const PeakRow& row) { return row.category == Category::kSavedForBackward && is_freed_by_plans(row); });
  return saved && !has<Recompute>(free.decisions) && !planner.recompute_offers().empty();
}

/// Recomputes what costs least: a cure for rows whose value is then no longer live at the peak.
void plan_recomputation(const Planner& planner, const FrontierPoint& free, std::vector<PeakRow>& rows) {
  const Recompute recompute{planner.recompute_offers().front().price};
  Decisions decisions = free.decisions;
  decisions.insert(decisions.begin(), recompute);
  const auto measured = planner.measure(decisions);
  if (!measured.ok() || measured->peak_bytes >= free.peak_bytes) return;
  std::set<std::pair<std::string, std::string>> left;
  for (const PeakValue& value : measured->at_peak) left.emplace(value.computation, value.instruction);
  for (PeakRow& row : rows) {
    if (row.category != Category::kSavedForBackward || !is_freed_by_plans(row)) continue;
    const bool stays = std::ranges::any_of(
        row.made_by, [&](const ValueName& value) { return left.contains({value.computation, value.instruction}); });
    if (stays) continue;
    Cure cure;
    cure.what = "make again in later loops what loops save for them";
    cure.bytes = free.peak_bytes - measured->peak_bytes;
    cure.more_time = measured->ns / free.ns - 1;
    cure.decision = to_string(Decision(recompute));
    row.cures.push_back(std::move(cure));
    return;
  }
}

/// Adds each donation to the row of its largest argument.
void plan_donations(const Module& module, const Planner& planner, const FrontierPoint& free, Report& report) {
  std::vector<Donatable> all = donatable(module);
  std::erase_if(all, [&](const Donatable& d) { return d.bytes < free.peak_bytes / kLeastDonation; });
  const int64_t plans = kDonationInstructions / std::max<int64_t>(1, planner.instructions());
  const bool in_allocations = !report.input_at_peak.empty() && report.input_at_peak[0].allocation >= 0;
  const std::vector<Instruction*> parameters = module.entry->parameters();
  std::ranges::stable_sort(all, [](const Donatable& a, const Donatable& b) { return a.bytes > b.bytes; });
  int64_t planned = 0;
  for (const Donatable& donated : all) {
    const auto changed = donated.applied(module);
    Cure cure;
    cure.what = donated.what;
    if (planned < plans) {
      ++planned;
      const auto lower = free_peak_of(*changed, planner.target(), free.decisions);
      if (lower) cure.bytes = std::max<int64_t>(0, free.peak_bytes - *lower);
      if (lower && cure.bytes == 0) cure.what += ", but the free plan needs as much then";
    }
    if (!module.is_scheduled) {
      const int64_t after = account_for(*changed, AccountMode::kAsGiven).peak_bytes();
      if (after < report.given.peak) cure.in_source = SourceChange{donated.user_change, report.given.peak, after};
    }
    if (cure.bytes == 0 && !cure.in_source) continue;
    std::set<std::string> names;
    for (const int64_t k : donated.parameters) names.insert(parameters[k]->name);
    const auto about = [&](const PeakRow& row) {
      return row.fate == Fate::kCouldBeDonated &&
             std::ranges::any_of(row.made_by, [&](const ValueName& v) { return names.contains(v.instruction); });
    };
    for (std::vector<PeakRow>* rows : {&report.at_peak, &report.input_at_peak}) {
      if (rows == &report.input_at_peak && in_allocations) continue;
      const auto row = std::ranges::find_if(*rows, about);
      if (row != rows->end()) row->cures.push_back(cure);
    }
  }
}

/// Adds each change to the largest row that it removes.
Status add_source_changes(const Module& module, const Target& target, Report& report) {
  if (report.input_at_peak.empty() || report.input_at_peak[0].allocation >= 0) return {};
  LT_ASSIGN_OR_RETURN(const auto changes, source_changes(module, target, report.given.peak));
  for (const PlannedSourceChange& change : changes) {
    std::set<std::pair<std::string, std::string>> removed;
    for (const ValueName& value : change.removes) removed.emplace(value.computation, value.instruction);
    const auto row = std::ranges::find_if(report.input_at_peak, [&](const PeakRow& candidate) {
      return is_freed_by_plans(candidate) && std::ranges::any_of(candidate.made_by, [&](const ValueName& value) {
               return removed.contains({value.computation, value.instruction});
             });
    });
    if (row == report.input_at_peak.end()) continue;
    Cure cure;
    cure.what = change.what;
    cure.in_source = change.in_source;
    row->cures.push_back(std::move(cure));
  }
  return {};
}

/// The name without the number that copies of a computation get.
std::string base_name(const std::string& name) {
  const size_t dot = name.find_last_of('.');
  const bool numbered = dot != std::string::npos && name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  return numbered ? name.substr(0, dot) : name;
}

/// Notes for each row of the program as given whether the free plan has it at its peak, too: the same value by name,
/// with what frees it there, or a value of the same extents under another name.
void compare_with_free_plan(Report& report) {
  std::map<std::string, const PeakRow*> at_free_peak;
  for (const PeakRow& row : report.at_peak) {
    for (const ValueName& value : row.made_by) at_free_peak.emplace(base_name(value.instruction), &row);
  }
  for (PeakRow& row : report.input_at_peak) {
    if (!is_freed_by_plans(row)) continue;
    const PeakRow* there = nullptr;
    for (const ValueName& value : row.made_by) {
      const auto found = at_free_peak.find(base_name(value.instruction));
      if (found != at_free_peak.end() && found->second->shape == row.shape) there = found->second;
    }
    if (there != nullptr) {
      row.in_free_plan = "stands at the free plan's peak, too";
      row.cures.insert(row.cures.begin(), there->cures.begin(), there->cures.end());
      continue;
    }
    row.in_free_plan = like_values_among(row, report.at_peak);
  }
}

}  // namespace

Status plan_cures(const Module& module, const Planner& planner, const Frontier& frontier, Report& report) {
  const int64_t plans = std::min(kMostCurePlans, kCureInstructions / std::max<int64_t>(1, planner.instructions()));
  // Rows, donations and changes in the source take about as long as the plans.
  Stage stage(module.context().progress(), "looking for what frees values", static_cast<double>(kRows + 2));
  if (plans > 0) {
    LT_ASSIGN_OR_RETURN(const auto streamed, planner.streamed(frontier.free.decisions));
    const bool recomputes = could_recompute(planner, frontier.free, report.at_peak);
    Streams streams(planner, frontier.free, *streamed, plans - static_cast<int64_t>(recomputes));
    size_t rows = 0;
    for (PeakRow& row : report.at_peak) {
      if (!is_freed_by_plans(row)) continue;
      if (++rows > kRows || !streams.any_left()) break;
      stage.add(1);
      if (auto cure = streams.best_for(row)) row.cures.push_back(std::move(*cure));
    }
    if (recomputes) plan_recomputation(planner, frontier.free, report.at_peak);
  } else {
    report.warnings.push_back("too large to plan what frees each value: `lowtide fit` plans");
  }
  if (!report.input_at_peak.empty() && report.input_at_peak[0].allocation < 0) compare_with_free_plan(report);
  stage.done(kRows);
  plan_donations(module, planner, frontier.free, report);
  stage.done(kRows + 1);
  return add_source_changes(module, planner.target(), report);
}

}  // namespace lowtide::engine
