#include "compile/planned_cures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "compile/what_to_change.h"

namespace lowtide {
namespace {

constexpr int64_t kCureInstructions = 12'000;    ///< planned in all for the cures of one report
constexpr int64_t kMostCurePlans = 12;           ///< streams
constexpr int64_t kDonationInstructions = 1000;  ///< of a module whose donations are planned, each from the start
constexpr size_t kRows = 6, kStreamsOfRow = 2;
constexpr double kBearable = 0.1;  ///< of the free plan's time: the finest tile that takes no more

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

  /// The stream that saves most of those that hide the row's values; bytes 0: none saves anything. Nothing: no plan was
  /// left to try one.
  std::optional<Cure> best_for(const PeakRow& row) {
    const std::vector<const Instruction*> seeds = find_values(module_, row.made_by);
    if (seeds.empty()) return Cure{.what = "no transformation known frees it", .planned = true};
    Cure best{.what = "no transformation known frees it", .planned = true};
    size_t tried = 0;
    for (const StreamCandidate& c : stream_candidates(module_, seeds)) {
      if (tried == kStreamsOfRow) break;
      const auto key = std::make_tuple(c.decision.computation, c.extent, c.hidden_bytes, c.again_ns, c.ns_per_tile);
      const auto known = known_.find(key);
      if (known == known_.end() && left_ == 0) return best.bytes > 0 ? std::optional(best) : std::nullopt;
      ++tried;
      const Cure cure = known != known_.end() ? known->second : (known_[key] = planned(c));
      if (cure.bytes > best.bytes || best.decision.empty()) best = cure;
    }
    return best;
  }

 private:
  Cure planned(const StreamCandidate& candidate) {
    --left_;
    StreamDecision decision = candidate.decision;
    decision.tile = bearable_tile(candidate, free_.ns);
    Decisions decisions = free_.decisions;
    decisions.emplace_back(decision);
    Cure cure{.what = "no transformation known frees it", .planned = true};
    const auto measured = planner_.measure(decisions);
    if (!measured.ok()) return cure;
    cure.decision = to_text(decision);
    cure.what =
        fmt::format("stream over dimension {} of %{} in tiles of {}", decision.dimension, decision.seed, decision.tile);
    cure.bytes = std::max<int64_t>(0, free_.peak_bytes - measured->peak_bytes);
    cure.more_time = measured->ns / free_.ns - 1;
    if (cure.bytes == 0) cure.what += " alone leaves the peak: another moment, or another value, needs as much";
    return cure;
  }

  const Planner& planner_;
  const FrontierPoint& free_;
  const Module& module_;  ///< in which the free plan's streams stand
  int64_t left_;          ///< plans
  std::map<std::tuple<std::string, int64_t, double, double, double>, Cure> known_;
};

/// What the program's author can do stays; what we can do is what was planned.
void set_cure(PeakRow& row, Cure cure) {
  for (const Cure& old : row.cures) {
    if (cure.user_change.empty()) cure.user_change = old.user_change;
  }
  row.cures = {std::move(cure)};
}

/// Donations: changes name arguments by number, as the rows' estimates do.
void set_donations(const std::vector<ChangeRow>& changes, const std::vector<ArgumentRow>& arguments,
                   std::vector<PeakRow>& rows) {
  size_t planned = 0;
  for (const ArgumentRow& argument : arguments) {
    if (argument.fate != Fate::kCouldBeDonated || ++planned > kMostDonations) continue;
    const std::string name = fmt::format("donate argument {}", argument.number);
    const auto change =
        std::ranges::find_if(changes, [&](const ChangeRow& c) { return c.what.starts_with(name + " ("); });
    for (PeakRow& row : rows) {
      for (Cure& cure : row.cures) {
        if (cure.planned || row.count > 1 || !cure.what.starts_with(name + ":")) continue;
        cure.planned = true;
        cure.bytes = change == changes.end() ? 0 : change->bytes;
        if (cure.bytes == 0) cure.what += ", but the free plan needs as much then";
      }
    }
  }
}

/// Without the number that copies of a computation get.
std::string base_name(const std::string& name) {
  const size_t dot = name.find_last_of('.');
  const bool numbered = dot != std::string::npos && name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  return numbered ? name.substr(0, dot) : name;
}

/// Of the program as given: is it at the free plan's peak, too?
void compare_with_free_plan(Report& report) {
  std::map<std::string, const PeakRow*> at_free_peak;
  for (const PeakRow& row : report.at_peak) {
    for (const ValueName& value : row.made_by) at_free_peak.emplace(base_name(value.instruction), &row);
  }
  const int64_t saved = report.given.peak - report.ours.peak;
  for (PeakRow& row : report.input_at_peak) {
    if (!is_freed_by_plans(row)) continue;
    const PeakRow* there = nullptr;
    for (const ValueName& value : row.made_by) {
      const auto found = at_free_peak.find(base_name(value.instruction));
      if (found != at_free_peak.end() && found->second->shape == row.shape) there = found->second;
    }
    if (there != nullptr) {
      row.cures = there->cures;
      continue;
    }
    const std::string how = row.cures.empty() ? "" : " (" + row.cures[0].what + ")";
    set_cure(row, {.what = "gone from the free plan's peak" + how,
                   .bytes = std::clamp<int64_t>(saved, 0, row.bytes),
                   .planned = true});
  }
}

}  // namespace

Status plan_cures(const Module& module, const Planner& planner, const Frontier& frontier, Report& report) {
  const int64_t plans = std::min(kMostCurePlans, kCureInstructions / std::max<int64_t>(1, planner.instructions()));
  if (plans > 0) {
    LT_ASSIGN_OR_RETURN(const auto streamed, planner.streamed(frontier.free.decisions));
    Streams streams(planner, frontier.free, *streamed, plans);
    size_t rows = 0;
    for (PeakRow& row : report.at_peak) {
      if (!is_freed_by_plans(row)) continue;
      if (++rows > kRows || !streams.any_left()) break;
      if (auto cure = streams.best_for(row)) set_cure(row, std::move(*cure));
    }
  } else {
    report.warnings.push_back("too large to plan each cure: what frees a value is estimated, `lowtide fit` plans");
  }
  if (planner.instructions() <= kDonationInstructions) {
    const auto changes = donations_that_save(module, frontier.free.decisions, report.ours.peak);
    set_donations(changes, report.arguments, report.at_peak);
    if (!report.input_at_peak.empty() && report.input_at_peak[0].allocation < 0) {
      set_donations(changes, report.arguments, report.input_at_peak);
    }
  }
  if (!report.input_at_peak.empty() && report.input_at_peak[0].allocation < 0) compare_with_free_plan(report);
  return {};
}

}  // namespace lowtide
