#include "compile/frontier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/sizes.h"
#include "base/thread_pool.h"
#include "compile/make_program.h"
#include "compile/peak_values.h"

namespace lowtide::engine {
namespace {

constexpr double kMostTime = 1.75;  ///< of the free plan's: slower ones nobody would run
/// Of the time without streams: what the free plan may take. Tiles are found in caches more often than modelled, so
/// that measured times grow less.
constexpr double kFreeTime = 1.4;
constexpr double kSlackNs = 5e4;  ///< beside it: programs of microseconds may take some more
constexpr double kFreeThrift = 0.05;
constexpr double kUnnoticedNs = 1e6;           ///< added to each plan's time where the free one is chosen
constexpr int64_t kFreeInstructions = 20'000;  ///< planned in all for the free plan
constexpr int64_t kLeastFree = 2, kMostFree = 48;
constexpr int64_t kSmallArena = int64_t{64} << 10;  ///< nothing is left to save
constexpr int64_t kPlanInstructions = 200'000;      ///< planned in all, by which the budget is set
constexpr int64_t kLeastPlans = 48, kMostPlans = 600;
constexpr int64_t kModuleInstructions = 100'000,
                  kMostModules = 120;       ///< for who takes modules: fine choices are lost there
constexpr double kLeastPeakForTime = 0.03;  ///< part of the peak that twice the time must save
constexpr int64_t kFewPlans = 64;
constexpr size_t kMostStarts = 6, kMostPrices = 3;                 ///< other first steps that are followed
constexpr int64_t kDearPart = 16, kLeastDear = 3, kMostDear = 40;  ///< of the plans: more of them, for dear ways
constexpr size_t kMostCandidates = 6;                              ///< tried in one step
constexpr double kExtraTime[] = {0.02, 0.1, 0.4, 3};               ///< of the free plan's, for one more stream
constexpr int64_t kMostEasier = 3;             ///< coarser tiles, where all that were tried are too slow
constexpr double kFreeExtraTime = 0.4;         ///< the most of it that the free plan itself would take
constexpr double kLeastGain = 0.005;           ///< of the arena: smaller steps aren't worth their time
constexpr double kThrifts[] = {0.2, 1, 0.02};  ///< of the free plan's time, what a step may take for nothing

constexpr int64_t kInstructionsAtOnce = 200'000;  ///< of modules that stand beside each other
constexpr int64_t kPlansPerThread = 4;            ///< so that all are done at about the same time

/// Plans that memory has room for at once.
int64_t plans_at_once(const Planner& planner) {
  return std::max<int64_t>(1, kInstructionsAtOnce / std::max<int64_t>(1, planner.instructions()));
}

/// Lines of plans that are made side by side would be mixed.
int threads_for(const Planner& planner) {
  if (planner.context().is_debugging()) return 1;
  return static_cast<int>(std::min<int64_t>(plans_at_once(planner), planner.context().pool().threads()));
}

/// A plan that was tried.
struct Trial {
  FrontierPoint point;
  double potential = 0;  ///< Measured::potential
  std::vector<PeakValue> at_peak;
  bool could_rearrange = false;
};

/// Steps of which each takes more time than the one before.
struct Series {
  std::vector<Decisions> steps;
  std::vector<Decisions> easier;  ///< than the first, the nearest first, where that one takes too much already
};

class Search {
 public:
  Search(const Planner& planner, const FrontierOptions& options) : planner_(planner), options_(options) {
    const bool modules = planner.target().takes() == Takes::kModule;
    const int64_t in_all = modules ? kModuleInstructions : kPlanInstructions;
    budget_ = options.budget > 0 ? options.budget
                                 : std::clamp(in_all / std::max<int64_t>(1, planner.instructions()), kLeastPlans,
                                              modules ? kMostModules : kMostPlans);
  }

  /// What the free plan is chosen from.
  Status find_free() {
    const bool streams_by_itself = !plain_.empty();
    std::vector<Decisions> firsts = {plain_};
    if (streams_by_itself) firsts.emplace_back();
    const int64_t most =
        std::clamp(kFreeInstructions / std::max<int64_t>(1, planner_.instructions()), kLeastFree, kMostFree);
    const int64_t until = std::min(budget_, most);
    stage_.emplace(context_.progress(), "searching for plans",
                   static_cast<double>(options_.only_free ? until : budget_));
    std::vector<Result<Measured>> plans = measure(firsts);
    const auto is_there = [](const Result<Measured>& plan) { return plan.ok(); };
    for (const Result<Measured>& plan : plans) {
      if (context_.should_stop() && std::ranges::none_of(plans, is_there)) return interrupted();
      if (!context_.should_stop()) LT_RETURN_IF_ERROR(plan.status());
    }
    if (!plans.front().ok() || !plans.back().ok()) {  // interrupted: one of the two
      const size_t k = plans.front().ok() ? 0 : 1;
      record(plans[k].take(), firsts[k]);
      return {};
    }
    const Trial first = record(plans[0].take(), plain_);
    most_ns_ = kFreeTime * first.point.ns + kSlackNs;
    if (first.point.temp_bytes <= kSmallArena) return {};
    const Trial second = streams_by_itself ? record(plans[1].take(), {}) : first;
    if (streams_by_itself && second.point.ns <= most_ns_) descend(second, kFreeThrift, until);
    // Where the pipeline found nothing to stream, both are the same plan.
    if (!streams_by_itself || !second.point.equals(first.point)) descend(first, kFreeThrift, until);
    try_dear_ways(first, {kFreeThrift});
    return {};
  }

  /// Once more with streams that store products between passes, or make them apart, in a few plans more: what was found
  /// without them stays.
  void try_dear_ways(const Trial& from, const std::vector<double>& thrifts) {
    const int64_t more = std::clamp(budget_ / kDearPart, kLeastDear, kMostDear);
    tries_dear_ways_ = true;
    candidates_.clear();
    for (const double thrift : thrifts) {
      budget_ += more;
      descend(from, thrift, std::min(budget_, frontier_.plans + more));
    }
    tries_dear_ways_ = false;
    candidates_.clear();
  }

  Result<Frontier> run() {
    const Interruptible interruptible(context_.stop());
    LT_RETURN_IF_ERROR(find_free());
    is_free_found_ = true;
    most_ns_ = kMostTime * frontier_.free.ns;
    if (options_.only_free) {
      if (planner_.target().takes() == Takes::kProgram) LT_RETURN_IF_ERROR(check_plan(frontier_.free_plan));
    } else if (!context_.should_stop()) {
      if (const auto whole = attempt(plain_)) explore(*whole, budget_ * 2 / 3);
      if (const auto free = attempt(frontier_.free.decisions)) explore(*free, budget_);
      const auto whole = budget_ > 2 * kFewPlans ? attempt(plain_) : std::nullopt;
      if (whole) try_dear_ways(*whole, {kThrifts[0], kThrifts[2]});
    }
    keep_best();
    frontier_.interrupted = context_.should_stop();
    return std::move(frontier_);
  }

 private:
  void explore(const Trial& from, int64_t until) {
    const int64_t half = frontier_.plans + (until - frontier_.plans) / 2;
    for (size_t k = 0; k < std::size(kThrifts); ++k) {
      const int64_t share = (half - frontier_.plans) / static_cast<int64_t>(std::size(kThrifts) - k);
      descend(from, kThrifts[k], std::min(half, frontier_.plans + std::max<int64_t>(1, share)));
    }
    // The best first step doesn't always lead furthest down.
    const std::vector<Trial> starts = first_steps(from);
    for (size_t k = 0; k < starts.size(); ++k) {
      const int64_t share = (until - frontier_.plans) / static_cast<int64_t>(starts.size() - k);
      descend(starts[k], kThrifts[0], std::min(until, frontier_.plans + std::max<int64_t>(1, share)));
    }
  }

  /// A stream after all others, with those that go before it; or one decision of another kind, wherever it stands.
  static bool is_one_step(const Decisions& base, const Decisions& all) {
    const auto [of_base, of_all] = std::ranges::mismatch(base, all);
    if (of_all == all.end()) return false;
    if (!std::holds_alternative<StreamDecision>(*of_all))
      return std::ranges::equal(std::ranges::subrange(of_base, base.end()),
                                std::ranges::subrange(of_all + 1, all.end()));
    const auto goes_before = [](const Decision& d) {
      const auto* stream = std::get_if<StreamDecision>(&d);
      return stream != nullptr && stream->alone;
    };
    return of_base == base.end() && std::all_of(of_all, all.end() - 1, goes_before);
  }

  /// Plans with one more step than this one: of each stream the best of its tiles, of each other kind the best, the
  /// best first.
  std::vector<Trial> first_steps(const Trial& from) const {
    const Decisions& base = from.point.decisions;
    std::vector<const Trial*> found;
    for (const auto& [key, trial] : tried_) {
      if (!trial || trial->point.ns > most_ns_ || trial->point.decisions.size() <= base.size()) continue;
      if (is_one_step(base, trial->point.decisions)) found.push_back(&*trial);
    }
    std::ranges::stable_sort(found, [](const Trial* a, const Trial* b) { return a->potential < b->potential; });
    std::set<std::tuple<size_t, std::string, std::string, int64_t, bool, bool, bool, size_t>> known;
    std::vector<Trial> starts;
    size_t prices = 0;
    for (const Trial* trial : found) {
      if (starts.size() >= kMostStarts + prices) break;
      const Decisions& all = trial->point.decisions;
      const Decision& added = *std::ranges::mismatch(all, base).in1;
      if (std::holds_alternative<Recompute>(added)) {  // each price leads to other plans
        if (prices < kMostPrices) starts.push_back(*trial), ++prices;
        continue;
      }
      const auto* d = std::get_if<StreamDecision>(&all.back());
      const StreamDecision stream = d && std::holds_alternative<StreamDecision>(added) ? *d : StreamDecision();
      const auto key = std::tuple(added.index(), stream.computation, stream.seed, stream.dimension, stream.one_pass,
                                  stream.once, stream.windows, all.size());
      if (known.insert(key).second) starts.push_back(*trial);
    }
    return starts;
  }

  /// Of the plans so far that take little more time than the first one, which is without streams, the one that takes
  /// least memory for its time: a tenth more must save a fifth. What no plan changes, arguments and results, counts
  /// half; beside a millisecond nobody notices more.
  void offer_as_free(const FrontierPoint& point, std::optional<Compiled> compiled) {
    const auto price = [](const FrontierPoint& p) {
      return static_cast<double>(p.peak_bytes + p.temp_bytes) * std::pow(p.ns + kUnnoticedNs, 2);
    };
    if (frontier_.plans > 0) {
      if (is_free_found_ || point.ns > most_ns_ || price(point) >= price(frontier_.free)) return;
    }
    frontier_.free = point;
    if (compiled) frontier_.free_plan = std::move(*compiled);
  }

  Trial record(Measured plan, const Decisions& decisions) {
    Trial trial;
    trial.point = {plan.peak_bytes, plan.temp_bytes, plan.ns, decisions};
    trial.potential = plan.potential;
    trial.at_peak = std::move(plan.at_peak);
    trial.could_rearrange = plan.could_rearrange;
    offer_as_free(trial.point, std::move(plan.compiled));
    frontier_.points.push_back(trial.point);
    ++frontier_.plans;
    lowest_ = lowest_ < 0 ? trial.point.peak_bytes : std::min(lowest_, trial.point.peak_bytes);
    context_.progress().note_best_peak(lowest_);
    tried_[key_of(decisions)] = trial;
    return trial;
  }

  /// Side by side, on all threads.
  std::vector<Result<Measured>> measure(const std::vector<Decisions>& all) {
    std::vector<std::optional<Result<Measured>>> measured(all.size());
    const Checked checked = options_.only_free ? Checked::kNo : Checked::kYes;
    const auto plan = [&](int64_t k, int) {
      const auto i = static_cast<size_t>(k);
      measured[i].emplace(context_.should_stop() ? Result<Measured>(interrupted()) : planner_.measure(all[i], checked));
      stage_->add(1);
    };
    context_.pool().run(static_cast<int64_t>(all.size()), plan, threads_);
    std::vector<Result<Measured>> plans;
    for (auto& plan : measured) plans.push_back(std::move(*plan));
    return plans;
  }

  static std::string key_of(const Decisions& decisions) {
    std::string key;
    for (const Decision& d : decisions) key += to_string(d) + "\n";
    return key;
  }

  /// Null where the decisions don't apply, or were not attempted yet.
  const Trial* tried(const Decisions& decisions) const {
    const auto known = tried_.find(key_of(decisions));
    return known != tried_.end() && known->second ? &*known->second : nullptr;
  }

  /// Nothing where the decisions don't apply.
  std::optional<Trial> attempt(const Decisions& decisions) {
    attempt_all({decisions});
    const Trial* trial = tried(decisions);
    return trial ? std::optional(*trial) : std::nullopt;
  }

  /// What isn't known yet, in this order, as far as the budget goes.
  void attempt_all(const std::vector<Decisions>& all) {
    const int64_t most = std::min(plans_at_once(planner_), kPlansPerThread * threads_);
    std::vector<Decisions> batch;
    const auto finish = [&] {
      std::vector<Result<Measured>> plans = measure(batch);
      for (size_t k = 0; k < batch.size(); ++k) {
        if (plans[k].ok()) show(record(plans[k].take(), batch[k]));
      }
      batch.clear();
    };
    for (const Decisions& decisions : all) {
      if (frontier_.plans + std::ssize(batch) >= budget_) finish();
      if (frontier_.plans >= budget_ || context_.should_stop()) return;
      if (tried_.try_emplace(key_of(decisions)).second) batch.push_back(decisions);
      if (std::ssize(batch) == most) finish();
    }
    finish();
  }

  void show(const Trial& trial) const {
    if (!context_.shows(DebugLevel::kSchedule, "fit")) return;
    std::vector<std::string> taken;
    for (const Decision& d : trial.point.decisions) {
      if (!std::holds_alternative<WithoutPass>(d)) taken.push_back(to_string(d));
    }
    context_.print(fmt::format("fit: temp {:>9} potential {:8.1f} MiB, {:8.3f} ms: {}",
                               format_bytes(trial.point.temp_bytes), trial.potential / 1048576, 1e-6 * trial.point.ns,
                               fmt::join(taken, "; ")));
  }

  /// Bytes of the peak and of what stands near it; 0: too few to tell.
  double gained(const Trial& from, const Trial& to) const {
    const double gain = from.potential - to.potential;
    const double least = std::max(kLeastGain, planner_.target().uncertain_part());
    return gain < least * static_cast<double>(from.point.temp_bytes) ? 0 : gain;
  }

  /// Bytes for time: how good the step from one plan to another is; 0 where it is none.
  double worth(const Trial& from, const Trial& to) const {
    const double gain = gained(from, to);
    if (gain == 0 || to.point.ns > most_ns_) return 0;
    return gain / (std::max(0.0, to.point.ns - from.point.ns) + thrift_ * from.point.ns);
  }

  /// Step by step to less memory. thrift: of the free plan's time, what counts as nothing.
  void descend(Trial at, double thrift, int64_t until) {
    thrift_ = thrift;
    while (frontier_.plans < until && at.point.temp_bytes > kSmallArena && !context_.should_stop()) {
      std::vector<Series> steps = steps_from(at);
      // Of few plans, those that make more and more again reach furthest.
      if (budget_ <= kFewPlans && !steps.empty()) attempt_all(std::vector<Series>{steps.front()});
      attempt_all(steps);
      begin_easier(at, steps);
      stage_->done(static_cast<double>(frontier_.plans));
      const Trial* best = nullptr;
      double most = 0;
      for (const Series& series : steps) {
        for (const Decisions& decisions : series.steps) {
          const Trial* trial = tried(decisions);
          const double gain = trial ? worth(at, *trial) : 0;
          if (gain > most) most = gain, best = trial;
        }
      }
      find_late_readers(at);
      if (best == nullptr) return;
      at = Trial(*best);
    }
  }

  std::vector<Series> steps_from(const Trial& at) const {
    std::vector<Series> steps;
    add_recompute(at, steps);
    add_groups(at, steps);
    add_streams(at, steps);
    add_finer(at, steps);
    if (at.could_rearrange) add_once<Rearrange>(at, steps);
    if (planner_.could_derive()) add_before_streams<DeriveStacks>(at, steps);
    if (planner_.could_update()) add_before_streams<UpdateInLoops>(at, steps);
    // Who takes modules would share what is made twice.
    if (planner_.target().takes() == Takes::kProgram && is_kept_for_late_readers_) add_once<Rematerialise>(at, steps);
    return steps;
  }

  /// The first of each series, then the second where that didn't take too long, and so on.
  void attempt_all(const std::vector<Series>& steps) {
    std::vector<bool> is_too_slow(steps.size(), false);
    for (size_t round = 0;; ++round) {
      std::vector<Decisions> all;
      for (size_t k = 0; k < steps.size(); ++k) {
        if (!is_too_slow[k] && round < steps[k].steps.size()) all.push_back(steps[k].steps[round]);
      }
      if (all.empty()) return;
      attempt_all(all);
      for (size_t k = 0; k < steps.size(); ++k) {
        if (round >= steps[k].steps.size()) continue;
        const Trial* trial = tried(steps[k].steps[round]);
        is_too_slow[k] = is_too_slow[k] || (trial && trial->point.ns > most_ns_);
      }
    }
  }

  /// Series whose first step takes too much, because more was expected of small tiles, begin with an easier one.
  void begin_easier(const Trial& at, std::vector<Series>& all) {
    const auto is_too_slow = [&](const Decisions& decisions) {
      const Trial* trial = tried(decisions);
      return trial && trial->point.ns > most_ns_ && gained(at, *trial) > 0;
    };
    for (Series& series : all) {
      for (const Decisions& easier : series.easier) {
        if (!is_too_slow(series.steps.front())) break;
        series.steps.insert(series.steps.begin(), easier);
        attempt_all(std::vector<Decisions>{easier});
      }
    }
  }

  /// Where nothing is kept for them without streams, there is nothing among streams.
  void find_late_readers(const Trial& at) {
    if (at.point.decisions != plain_) return;
    Decisions decisions = plain_;
    decisions.emplace_back(Rematerialise{});
    const auto trial = tried_.find(key_of(decisions));
    if (trial == tried_.end() || !trial->second) return;
    is_kept_for_late_readers_ = trial->second->point.peak_bytes != at.point.peak_bytes;
  }

  /// Tiles worth trying: the finest whose extra time is small, is bearable, is still allowed.
  std::vector<int64_t> some_tiles(const StreamCandidate& candidate) const {
    std::vector<int64_t> tiles;
    for (const double part : kExtraTime) {
      if (!is_free_found_ && part > kFreeExtraTime) break;
      int64_t finest = 0;
      for (const int64_t tile : candidate.tiles) {
        const double parts = std::ceil(static_cast<double>(candidate.extent) / static_cast<double>(tile));
        const double extra = candidate.again_ns + parts * candidate.ns_per_tile;
        if (extra > part * most_ns_ && finest > 0) break;
        finest = tile;
      }
      if (finest > 0 && (tiles.empty() || tiles.back() != finest)) tiles.push_back(finest);
    }
    return tiles;
  }

  static std::string listed(const StreamCandidate& candidate) {
    std::string text;
    for (const StreamDecision& d : candidate.decisions(candidate.decision.tile)) text += to_text(d) + " ";
    return text;
  }

  /// What is the same around different seeds, once.
  static std::vector<StreamCandidate> distinct(std::vector<StreamCandidate> all) {
    std::set<std::tuple<std::string, int64_t, double, double, double>> known;
    std::erase_if(all, [&](const StreamCandidate& c) {
      return !known.insert({c.decision.computation, c.extent, c.hidden_bytes, c.again_ns, c.ns_per_tile}).second;
    });
    return all;
  }

  /// What could be streamed next. Descents with different thrift begin at the same plans: each is looked at once.
  const std::vector<StreamCandidate>& candidates_at(const Trial& at) const {
    const auto [known, is_new] = candidates_.try_emplace(key_of(at.point.decisions));
    if (!is_new) return known->second;
    const auto module = planner_.streamed(at.point.decisions);
    if (!module.ok()) return known->second;
    const std::vector<const Instruction*> seeds = find_values(**module, at.at_peak);
    if (seeds.empty()) return known->second;
    std::vector<StreamCandidate>& candidates = known->second;
    candidates = distinct(stream_candidates(**module, planner_.target(), seeds));
    if (context_.shows(DebugLevel::kAll, "fit")) {
      for (const Instruction* i : seeds) context_.print("fit: at the peak " + i->parent->name + " " + i->name);
      for (const StreamCandidate& c : candidates) {
        context_.print(fmt::format("fit: candidate {} hides {:.1f} MiB, {:.3f} ms again, {:.1f} us a tile", listed(c),
                                   c.hidden_bytes / 1048576, 1e-6 * c.again_ns, 1e-3 * c.ns_per_tile));
      }
    }
    // The best of each way to spend more time for less memory, beside those that only stream.
    const auto way = [](const StreamCandidate& c) { return c.before.empty() ? c.decision.once ? 1 : 0 : 2; };
    const size_t most = tries_dear_ways_ ? 1 : 0, kept[] = {kMostCandidates, most, most};
    size_t tried[] = {0, 0, 0};
    std::erase_if(candidates, [&](const StreamCandidate& c) { return tried[way(c)]++ >= kept[way(c)]; });
    return candidates;
  }

  /// One more stream.
  void add_streams(const Trial& at, std::vector<Series>& steps) const {
    for (const StreamCandidate& candidate : candidates_at(at)) {
      const auto with_tile = [&](int64_t tile) {
        Decisions decisions = at.point.decisions;
        for (StreamDecision& decision : candidate.decisions(tile)) decisions.emplace_back(std::move(decision));
        return decisions;
      };
      Series& series = steps.emplace_back();
      const std::vector<int64_t> tiles = some_tiles(candidate);
      for (const int64_t tile : tiles) series.steps.push_back(with_tile(tile));
      if (tiles.empty()) continue;
      const auto& all = candidate.tiles;  // the coarsest first
      for (auto tile = std::ranges::find(all, tiles.front());
           tile != all.begin() && std::ssize(series.easier) < kMostEasier;) {
        series.easier.push_back(with_tile(*--tile));
      }
    }
  }

  /// One of the streams in finer tiles; those within it keep their part.
  static void add_finer(const Trial& at, std::vector<Series>& steps) {
    for (size_t k = 0; k < at.point.decisions.size(); ++k) {
      Series& series = steps.emplace_back();
      for (const int64_t parts : {2, 4}) {
        Decisions decisions = at.point.decisions;
        auto* decision = std::get_if<StreamDecision>(&decisions[k]);
        if (!decision || decision->tile % parts != 0 || decision->tile < parts) continue;
        decision->tile /= parts;
        series.steps.push_back(std::move(decisions));
      }
    }
  }

  /// What is made again at a higher price than so far. It stands before the streams, as it is done before them.
  void add_recompute(const Trial& at, std::vector<Series>& steps) const {
    if (planner_.target().takes() != Takes::kProgram) return;
    Decisions decisions = at.point.decisions;
    const auto is_recompute = [](const Decision& d) { return std::holds_alternative<Recompute>(d); };
    const auto so_far = std::ranges::find_if(decisions, is_recompute);
    const double price = so_far == decisions.end() ? 0 : std::get<Recompute>(*so_far).ns_per_byte;
    std::erase_if(decisions, is_recompute);
    const auto first =
        std::ranges::find_if_not(decisions, [](const Decision& d) { return std::holds_alternative<DeriveStacks>(d); });
    const auto place = static_cast<size_t>(first - decisions.begin());
    decisions.insert(first, Recompute{});
    Series& series = steps.emplace_back();
    for (const RecomputeOffer& offer : planner_.recompute_offers()) {
      if (offer.ns_per_byte <= price || offer.ns > most_ns_) continue;
      series.steps.push_back(decisions);
      series.steps.back()[place] = Recompute{offer.ns_per_byte};
    }
  }

  /// Loops that save every so many trips; once. Behind what else is made again. The free plan runs no loop twice.
  void add_groups(const Trial& at, std::vector<Series>& steps) const {
    if (!is_free_found_ || planner_.target().takes() != Takes::kProgram || has<SaveEvery>(at.point.decisions)) return;
    for (const Grouping& grouping : planner_.groupings()) {
      Decisions decisions = at.point.decisions;
      decisions.insert(std::ranges::find_if_not(decisions, comes_before_streams), SaveEvery{grouping});
      steps.push_back({.steps = {std::move(decisions)}, .easier = {}});
    }
  }

  /// A decision that is taken once.
  template <class Kind>
  static void add_once(const Trial& at, std::vector<Series>& steps) {
    Decisions decisions = at.point.decisions;
    if (has<Kind>(decisions)) return;
    decisions.emplace_back(Kind{});
    steps.push_back({.steps = {std::move(decisions)}, .easier = {}});
  }
  template <class Kind>
  static void add_before_streams(const Trial& at, std::vector<Series>& steps) {
    Decisions decisions = at.point.decisions;
    if (has<Kind>(decisions)) return;
    const bool first = std::is_same_v<Kind, DeriveStacks>;
    decisions.insert(first ? decisions.begin() : std::ranges::find_if_not(decisions, comes_before_streams), Kind{});
    steps.push_back({.steps = {std::move(decisions)}, .easier = {}});
  }

  /// Drops what another point beats, and what takes too long.
  void keep_best() {
    auto& points = frontier_.points;
    std::erase_if(points, [&](const FrontierPoint& point) { return point.ns > most_ns_; });
    std::stable_sort(points.begin(), points.end(), [](const FrontierPoint& a, const FrontierPoint& b) {
      return a.ns != b.ns ? a.ns < b.ns : a.peak_bytes < b.peak_bytes;
    });
    std::vector<FrontierPoint> kept;
    for (FrontierPoint& point : points) {
      if (kept.empty() || is_worth_its_time(kept.back(), point)) kept.push_back(std::move(point));
    }
    // What runs without a limit is within a limit of its own peak.
    if (!kept.empty() && kept.back().peak_bytes > frontier_.free.peak_bytes) kept.push_back(frontier_.free);
    points = std::move(kept);
  }

  /// Does anyone take that much longer for that much less? Equally fast ones need only be lower.
  static bool is_worth_its_time(const FrontierPoint& faster, const FrontierPoint& lower) {
    const double less = 1 - static_cast<double>(lower.peak_bytes) / static_cast<double>(faster.peak_bytes);
    return less > 0 && less >= kLeastPeakForTime * (lower.ns / faster.ns - 1);
  }

  const Planner& planner_;
  const FrontierOptions& options_;
  std::optional<Stage> stage_;
  const Decisions plain_ = planner_.target().takes() == Takes::kModule ? Decisions() : without_streams();
  Frontier frontier_;
  int64_t budget_ = 0, lowest_ = -1;
  double thrift_ = 1, most_ns_ = 0;
  bool is_free_found_ = false, is_kept_for_late_readers_ = true;
  Context& context_ = planner_.context();
  const int threads_ = threads_for(planner_);
  bool tries_dear_ways_ = false;
  mutable std::map<std::string, std::vector<StreamCandidate>> candidates_;  ///< by decisions
  std::map<std::string, std::optional<Trial>> tried_;                       ///< by decisions; nothing: they don't apply
};

}  // namespace

const FrontierPoint* Frontier::within(int64_t limit) const {
  for (const FrontierPoint& point : points) {
    if (point.peak_bytes <= limit) return &point;
  }
  return nullptr;
}

Result<Frontier> find_frontier(const Planner& planner, const FrontierOptions& options) {
  return Search(planner, options).run();
}

Result<Compiled> compile_within(const Module& module, const Target& target, std::optional<int64_t> limit,
                                std::optional<int64_t>* tightest) {
  if (!limit) return compile_plan(module, target);
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(module, target));
  LT_ASSIGN_OR_RETURN(Frontier frontier, find_frontier(planner));
  const FrontierPoint* point = frontier.within(*limit);
  if (point == nullptr) {
    if (tightest != nullptr) *tightest = frontier.tightest().peak_bytes;
    return Status(Fault::kLimit,
                  fmt::format("no plan found fits in {}; the tightest needs {} ({} bytes)", format_bytes(*limit),
                              format_bytes(frontier.tightest().peak_bytes), frontier.tightest().peak_bytes));
  }
  const Decisions chosen = point->decisions;
  // Debug output is that of the plan chosen, made anew.
  if (chosen == frontier.free.decisions && !planner.context().is_debugging()) return std::move(frontier.free_plan);
  frontier = {};  // two plans of a large module needn't stand beside each other
  return compile_plan(module, target, chosen);
}

}  // namespace lowtide::engine
