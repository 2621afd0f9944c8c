#include "compile/frontier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "base/sizes.h"
#include "base/thread_pool.h"
#include "compile/make_program.h"
#include "compile/next_steps.h"

namespace lowtide::engine {
namespace {

/// Of the time without streams: the limit for plans on the way to the free one.
constexpr double kFreeTime = 1.4;
constexpr double kHoistedTime = 0.97;       ///< of the time with loop-invariant values computed in each iteration
constexpr double kFreeExponent = 3;         ///< of the time in a plan's price; that of the memory is 1
constexpr double kBalancedExponent = 1.25;  ///< the same for XLA:CPU, which takes longer than modelled
constexpr double kSlackNs = 5e4;            ///< added to such limits: programs of microseconds may take longer
constexpr double kFreeThrift = 0.05;
constexpr double kUnnoticedNs = 1e6;           ///< added to each plan's time when the free plan is chosen
constexpr int64_t kFreeInstructions = 20'000;  ///< planned in total for the free plan
constexpr int64_t kLeastFree = 2, kMostFree = 48;
constexpr int64_t kFreeReached = 5;                 ///< 1/5 of the memory without streams is low enough
constexpr int64_t kFreePatience = 2;                ///< times as many plans, as long as each step saves much
constexpr int64_t kSmallArena = int64_t{64} << 10;  ///< small enough: the search ends
constexpr int64_t kFewInstructions = 64;
// Brief searches:
constexpr int64_t kBriefArena = int64_t{16} << 20;  ///< compiling the kernels takes more memory
constexpr double kBriefTime = 1.1;                  ///< of the time without streams: hardly slower
constexpr double kBriefGain = 0.95;                 ///< of the price before: below it a plan counts as a gain
constexpr int64_t kBriefPlans = 6;                  ///< without a gain before the search ends; one more
constexpr int64_t kBytesPerInstruction = 6 << 10;   ///< per so many bytes of arena for each instruction
constexpr int64_t kBriefBatch = 4;                  ///< plans between two checks, for any number of threads
constexpr int64_t kPlanInstructions = 200'000, kMostPlans = 600;      ///< planned in total; determines the budget
constexpr int64_t kModuleInstructions = 100'000, kMostModules = 120;  ///< for targets that take modules: fine choices
                                                                      ///< are lost there
// Budgets up to kFewPlans are those of large programs, for which more is planned in total.
constexpr int64_t kFewPlans = 64, kManyInstructions = 500'000, kLeastPlans = 48, kMostFewPlans = 110;
constexpr int64_t kLeastBelowFree = 64;  ///< plans after the free one is found, unless plans are few
constexpr double kUsualTime = 2.5;       ///< of the free plan's: slower plans are tried last, from the lowest on
constexpr int64_t kSlowPart = 8, kLeastSlow = 6, kMostSlow = 40;  ///< of the budget: plans added for them
constexpr double kLeastPeakForTime = 0.03;  ///< part of the peak that a plan of twice the time must save,
constexpr double kLeastPeakIfSlow = 0.1;    ///< and one of these slower plans
constexpr double kWorsePotential = 1.25;    ///< of the potential: finer tiles of a stream above it aren't tried
constexpr double kNoBound = std::numeric_limits<double>::infinity();
constexpr double kCheap = 0.02;      ///< of the time: a stream that adds no more is cheap
constexpr double kCheapGain = 0.97;  ///< of the potential: a cheap stream that leaves more isn't worth it
constexpr size_t kCheapPrices = 6, kPricesAmong = 16;  ///< of recomputation, before a cheap stream and after it
constexpr size_t kMostStarts = 6, kMostPrices = 3;     ///< other first steps that are explored
constexpr int64_t kDearPart = 16, kLeastDear = 3, kMostDear = 40;  ///< of the budget: plans added for dear ways
constexpr double kGoodStep = 0.9;              ///< of the potential: a step below it extends the descent
constexpr double kLeastGain = 0.005;           ///< of the arena: smaller steps aren't worth their time
constexpr double kThrifts[] = {0.2, 1, 0.02};  ///< of a plan's time: added to the extra time of steps

constexpr int64_t kInstructionsAtOnce = 200'000;  ///< of all modules in memory at once
constexpr int64_t kPlansPerThread = 4;            ///< so that all threads finish at about the same time
constexpr size_t kMostAhead = 3;                  ///< plans made before it is known whether they are wanted

/// How many plans fit in memory at once.
int64_t plans_at_once(const Planner& planner) {
  return std::max<int64_t>(1, kInstructionsAtOnce / std::max<int64_t>(1, planner.instructions()));
}

/// One thread when debugging, since the lines of concurrent plans would be mixed.
int threads_for(const Planner& planner) {
  if (planner.context().is_debugging()) return 1;
  return static_cast<int>(std::min<int64_t>(plans_at_once(planner), planner.context().pool().threads()));
}

class Search {
 public:
  Search(const Planner& planner, const FrontierOptions& options)
      : planner_(planner), options_(options), next_(planner) {
    const bool modules = planner.target().takes() == Takes::kModule;
    const int64_t instructions = std::max<int64_t>(1, planner.instructions());
    budget_ = std::min((modules ? kModuleInstructions : kPlanInstructions) / instructions,
                       modules ? kMostModules : kMostPlans);
    next_.state.has_few_plans = budget_ <= kFewPlans;
    if (next_.state.has_few_plans) budget_ = std::clamp(kManyInstructions / instructions, kLeastPlans, kMostFewPlans);
    if (options.budget > 0) budget_ = options.budget;
  }

  /// Tries the plans among which the free plan is chosen.
  Status find_free() {
    const bool streams_by_itself = !plain_.empty();
    // Most programs of few instructions have nothing to save, and shouldn't wait for a second plan. Where values can be
    // hoisted, the first decides on the second.
    const bool at_once = streams_by_itself && planner_.instructions() > kFewInstructions && !planner_.could_hoist();
    std::vector<Decisions> firsts = {plain_};
    if (at_once) firsts.emplace_back();
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
    if (!plans.front().ok() || !plans.back().ok()) {  // interrupted after one of the two
      const size_t k = plans.front().ok() ? 0 : 1;
      record(plans[k].take(), firsts[k]);
      return {};
    }
    const Trial given = record(plans[0].take(), plain_);
    set_plain_ns(given.point.ns);
    const Trial first = hoisted_if_faster(given);
    if (first.point.temp_bytes <= kSmallArena) return {};
    const bool is_hoisted = has<HoistLoopInvariants>(first.point.decisions);
    const Decisions own = is_hoisted ? Decisions{HoistLoopInvariants{}} : Decisions();
    if (streams_by_itself && !at_once) {
      plans.push_back(std::move(measure({own}).front()));
      if (!plans[1].ok()) return context_.should_stop() ? Status() : plans[1].status();
    }
    descend_to_free(first, streams_by_itself ? record(plans[1].take(), own) : first, until);
    if (!is_enough()) try_dear_ways(first, {kFreeThrift});
    return {};
  }

  /// The same plan with loop-invariant values computed before their loops, if that is faster. The search for the free
  /// plan then starts from it; the one for lower peaks starts from both.
  Trial hoisted_if_faster(const Trial& given) {
    if (!planner_.could_hoist()) return given;
    Decisions decisions = given.point.decisions;
    decisions.insert(decisions.begin(), HoistLoopInvariants{});
    const auto hoisted = attempt(decisions);
    if (!hoisted || hoisted->point.ns > kHoistedTime * given.point.ns) return given;
    unhoisted_ns_ = given.point.ns;
    set_plain_ns(hoisted->point.ns);
    return *hoisted;
  }

  void set_plain_ns(double ns) {
    frontier_.plain_ns = ns;
    next_.state.most_ns = kFreeTime * ns + kSlackNs;
  }

  /// Descends from the plan without streams and from the pipeline's own (equal if the pipeline found no stream).
  void descend_to_free(const Trial& first, const Trial& second, int64_t until) {
    const bool both = !plain_.empty() && !second.point.equals(first.point);
    const int64_t patient = kFreePatience * until;
    // Equal starts are one: the search for other plans goes on from the first, and finds what is tried here.
    if (!both && next_.state.has_few_plans) return descend(first, kFreeThrift, until, patient);
    if (!plain_.empty() && second.point.ns <= next_.state.most_ns)
      descend(second, kFreeThrift, both ? until * 2 / 3 : until, patient);
    // If the pipeline's streams save too little, the plan without them gets more attempts.
    const bool is_stuck = frontier_.free.temp_bytes > first.point.temp_bytes / kFreeReached;
    const int64_t more = is_stuck ? std::max(until, frontier_.plans + until / 2) : until;
    if (plain_.empty() || both) descend(first, kFreeThrift, more, patient);
  }

  /// Descends again, also with streams that trade more time for memory. The added budget keeps other plans unaffected.
  void try_dear_ways(const Trial& from, const std::vector<double>& thrifts) {
    const int64_t more = std::clamp(budget_ / kDearPart, kLeastDear, kMostDear);
    next_.state.tries_dear_ways = true;
    for (const double thrift : thrifts) {
      budget_ += more;
      descend(from, thrift, std::min(budget_, frontier_.plans + more));
    }
    next_.state.tries_dear_ways = false;
  }

  /// Goes on from the lowest plan to slower ones: first along the same streams, of which later passes keep fewer
  /// values, or beside which more is recomputed.
  void try_slow_ways() {
    const Trial* lowest = nullptr;
    for (const auto& [key, trial] : tried_) {
      if (!trial || trial->point.ns > next_.state.most_ns) continue;
      if (lowest == nullptr || trial->point.temp_bytes < lowest->point.temp_bytes) lowest = &*trial;
    }
    if (lowest == nullptr) return;
    const Trial at = *lowest;
    set_most_time(options_.most_time);
    std::vector<Series> dearer;
    next_.add_dearer_keeping(at, dearer);
    next_.add_dearer_recompute(at, dearer);
    if (dearer.empty() && next_.state.has_few_plans) return;
    budget_ = frontier_.plans + std::clamp(budget_ / kSlowPart, kLeastSlow, kMostSlow);
    attempt_all(dearer);
    thrift_ = kThrifts[0];
    const Trial* best = best_of(dearer, [&](const Trial& trial) { return worth(at, trial); });
    descend(best != nullptr ? Trial(*best) : at, kThrifts[0], budget_);
  }

  Result<Frontier> run() {
    const Interruptible interruptible(context_.stop());
    LT_RETURN_IF_ERROR(find_free());
    next_.state.is_free_found = true;
    if (!next_.state.has_few_plans && options_.budget == 0)
      budget_ = std::max(budget_, frontier_.plans + kLeastBelowFree);
    set_most_time(std::min(kUsualTime, options_.most_time));
    if (options_.only_free) {
      if (planner_.target().takes() == Takes::kProgram) LT_RETURN_IF_ERROR(check_plan(frontier_.free_plan));
    } else if (!context_.should_stop()) {
      if (const auto whole = attempt(plain_)) {
        if (next_.state.has_few_plans) explore_cheap(*whole, budget_ * 2 / 3);
        explore(*whole, budget_ * 2 / 3);
      }
      if (const auto free = attempt(frontier_.free.decisions)) explore(*free, budget_);
      const auto whole = budget_ > 2 * kFewPlans ? attempt(plain_) : std::nullopt;
      if (whole) try_dear_ways(*whole, {kThrifts[0], kThrifts[2]});
      if (options_.most_time > kUsualTime && options_.budget == 0) try_slow_ways();
    }
    keep_best();
    frontier_.interrupted = context_.should_stop();
    return std::move(frontier_);
  }

 private:
  void set_most_time(double times) { next_.state.most_ns = times * std::max(frontier_.free.ns, unhoisted_ns_); }

  /// May a brief search end? Yes if little memory is left to save, in hardly more time than without streams, or after
  /// many plans without a gain: the more, the larger the arena is relative to the work of making a plan.
  bool is_enough() const {
    if (!is_brief_ || next_.state.is_free_found) return false;
    const FrontierPoint& free = frontier_.free;
    if (free.temp_bytes <= kBriefArena && free.ns <= kBriefTime * frontier_.plain_ns + kSlackNs) return true;
    const int64_t more = free.temp_bytes / kBytesPerInstruction / std::max<int64_t>(1, planner_.instructions());
    return frontier_.plans - plans_until_gain_ > kBriefPlans + more;
  }

  /// For few plans: finds a cheap stream in a plan that recomputes much, then puts the stream first and chooses what to
  /// recompute among the values that it leaves.
  void explore_cheap(const Trial& from, int64_t until) {
    thrift_ = kThrifts[0];
    std::vector<Series> prices, streams;
    next_.add_recompute(from, kCheapPrices, prices);
    attempt_all(prices);
    const Trial* dear = best_of(prices, [&](const Trial& trial) { return worth(from, trial); });
    if (dear == nullptr) return;
    const Trial at = *dear;
    next_.add_streams(at, streams);
    attempt_all(streams);
    thrift_ = kCheap;
    const auto worth_if_cheap = [&](const Trial& trial) {
      const bool saves_much = trial.potential < kCheapGain * at.potential;
      return !saves_much || trial.point.ns > (1 + kCheap) * at.point.ns ? 0 : worth(at, trial);
    };
    if (const Trial* best = best_of(streams, worth_if_cheap)) {
      // The finest tiles were tried; coarser ones may be as good, and are faster.
      const auto has_it = [&](const Series& series) {
        return std::ranges::find(series.steps, best->point.decisions) != series.steps.end();
      };
      Series& series = *std::ranges::find_if(streams, has_it);
      attempt_all(series.easier);
      series.steps.insert(series.steps.end(), series.easier.begin(), series.easier.end());
    }
    const Trial* cheap = best_of(streams, worth_if_cheap);
    thrift_ = kThrifts[0];
    if (cheap == nullptr) return;
    Decisions decisions = cheap->point.decisions;
    decisions.erase(std::ranges::find_if(decisions, is_recompute));
    const auto alone = attempt(decisions);
    if (!alone) return;
    std::vector<Series> among;
    next_.add_recompute_among(*alone, kPricesAmong, among);
    attempt_all(among);
    if (const Trial* best = best_of(among, [&](const Trial& trial) { return worth(*alone, trial); }))
      descend(Trial(*best), thrift_, until);
  }

  /// The plan of highest value among these steps, if tried; null if no value is above zero.
  const Trial* best_of(const std::vector<Series>& steps, const std::function<double(const Trial&)>& value) const {
    const Trial* best = nullptr;
    double most = 0;
    for (const Series& series : steps) {
      for (const Decisions& decisions : series.steps) {
        const Trial* trial = tried(decisions);
        const double v = trial ? value(*trial) : 0;
        if (v > most) most = v, best = trial;
      }
    }
    return best;
  }

  void explore(const Trial& from, int64_t until) {
    const int64_t half = frontier_.plans + (until - frontier_.plans) / 2;
    for (size_t k = 0; k < std::size(kThrifts); ++k) {
      const int64_t share = (half - frontier_.plans) / static_cast<int64_t>(std::size(kThrifts) - k);
      descend(from, kThrifts[k], std::min(half, frontier_.plans + std::max<int64_t>(1, share)));
    }
    // The best first step doesn't always lead to the least memory.
    const std::vector<Trial> starts = first_steps(from);
    for (size_t k = 0; k < starts.size(); ++k) {
      const int64_t share = (until - frontier_.plans) / static_cast<int64_t>(starts.size() - k);
      descend(starts[k], kThrifts[0], std::min(until, frontier_.plans + std::max<int64_t>(1, share)), until);
    }
  }

  /// Does `all` add one step to `base`: a last stream with the streams that it needs, or one decision of another kind?
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

  /// Tried plans with one more step than this one, the best first: for each stream the one with the best tile, for
  /// each other kind of decision the best one.
  std::vector<Trial> first_steps(const Trial& from) const {
    const Decisions& base = from.point.decisions;
    std::vector<const Trial*> found;
    for (const auto& [key, trial] : tried_) {
      if (!trial || trial->point.ns > next_.state.most_ns || trial->point.decisions.size() <= base.size()) continue;
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
      if (std::holds_alternative<Recompute>(added)) {  // each price leads to different plans
        if (prices < kMostPrices) starts.push_back(*trial), ++prices;
        continue;
      }
      const auto* d = std::get_if<StreamDecision>(&all.back());
      const StreamDecision stream = d && std::holds_alternative<StreamDecision>(added) ? *d : StreamDecision();
      const auto key = std::tuple(added.index(), stream.computation, stream.seed, stream.dimension, stream.one_pass,
                                  stream.store > 0, stream.windows, all.size());
      if (known.insert(key).second) starts.push_back(*trial);
    }
    return starts;
  }

  /// Makes this the free plan if its price is the lowest so far. A tenth more time must save a quarter of the memory,
  /// so that the free plan is about as fast as the fastest. Arguments and results, which no plan changes, count half;
  /// differences well below a millisecond hardly count, since nobody notices them.
  void offer_as_free(const FrontierPoint& point, std::optional<Compiled> compiled) {
    const auto price = [](const FrontierPoint& p) {
      return static_cast<double>(p.peak_bytes + p.temp_bytes) * std::pow(p.ns + kUnnoticedNs, kFreeExponent);
    };
    if (frontier_.plans > 0) {
      if (next_.state.is_free_found || point.ns > next_.state.most_ns || price(point) >= price(frontier_.free)) return;
    }
    const double found = price(point);
    if (frontier_.plans == 0 || found < kBriefGain * price_of_gain_) {
      price_of_gain_ = found;
      plans_until_gain_ = frontier_.plans;
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
    frontier_.peaks[key_of(decisions)] = plan.peak_bytes;
    ++frontier_.plans;
    lowest_ = lowest_ < 0 ? trial.point.peak_bytes : std::min(lowest_, trial.point.peak_bytes);
    context_.progress().note_best_peak(lowest_);
    tried_[key_of(decisions)] = trial;
    return trial;
  }

  /// Measures the plans concurrently, on all threads.
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

  /// Null if the decisions don't apply or were not attempted yet.
  const Trial* tried(const Decisions& decisions) const {
    const auto known = tried_.find(key_of(decisions));
    return known != tried_.end() && known->second ? &*known->second : nullptr;
  }

  /// Nothing if the decisions don't apply, or the search ended before they were attempted.
  std::optional<Trial> attempt(const Decisions& decisions) {
    attempt_all({decisions});
    const Trial* trial = tried(decisions);
    return trial ? std::optional(*trial) : std::nullopt;
  }

  /// Measures these plans and, on threads that would have nothing to do, some of those that are probably wanted `next`:
  /// they count once they are attempted, so that the search is the same for any number of threads.
  std::vector<Result<Measured>> measure_ahead(const std::vector<Decisions>& wanted,
                                              const std::vector<Decisions>& next) {
    std::vector<Decisions> all;
    for (const Decisions& decisions : wanted) {
      if (!ahead_.contains(key_of(decisions))) all.push_back(decisions);
    }
    const size_t at_once = all.empty() ? 0 : std::min(static_cast<size_t>(threads_), 1 + kMostAhead);
    for (const Decisions& decisions : next) {
      if (all.size() >= at_once) break;
      const std::string key = key_of(decisions);
      if (!ahead_.contains(key) && !tried_.contains(key)) all.push_back(decisions);
    }
    std::vector<Result<Measured>> measured = measure(all);
    for (size_t k = 0; k < all.size(); ++k) ahead_.emplace(key_of(all[k]), std::move(measured[k]));
    std::vector<Result<Measured>> plans;
    for (const Decisions& decisions : wanted) plans.push_back(std::move(ahead_.extract(key_of(decisions)).mapped()));
    return plans;
  }

  /// Measures the plans that weren't attempted yet, in this order, until the search must end. `next`: those that are
  /// probably attempted afterwards.
  void attempt_all(const std::vector<Decisions>& all, const std::vector<Decisions>& next = {}) {
    const int64_t side_by_side = is_brief_ ? kBriefBatch : kPlansPerThread * threads_;
    const int64_t most = std::min(plans_at_once(planner_), side_by_side);
    std::vector<Decisions> batch;
    const auto finish = [&] {
      std::vector<Result<Measured>> plans = measure_ahead(batch, next);
      for (size_t k = 0; k < batch.size(); ++k) {
        if (plans[k].ok()) show(record(plans[k].take(), batch[k]));
      }
      batch.clear();
    };
    for (const Decisions& decisions : all) {
      if (frontier_.plans + std::ssize(batch) >= budget_) finish();
      if (frontier_.plans >= budget_ || is_enough() || context_.should_stop()) return;
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

  /// Bytes saved at the peak and at moments near it; 0 if the estimate can't tell so few.
  double gained(const Trial& from, const Trial& to) const {
    const double gain = from.potential - to.potential;
    const double least = std::max(kLeastGain, planner_.target().uncertain_part());
    return gain < least * static_cast<double>(from.point.temp_bytes) ? 0 : gain;
  }

  /// How good the step from one plan to another is: bytes saved per added time; 0 if it saves none or is too slow.
  double worth(const Trial& from, const Trial& to) const {
    const double gain = gained(from, to);
    if (gain == 0 || to.point.ns > next_.state.most_ns) return 0;
    return gain / (std::max(0.0, to.point.ns - from.point.ns) + thrift_ * from.point.ns);
  }

  /// Takes the best step to less memory again and again, for `until` plans, or `at_most` as long as each step saves
  /// much. thrift: the part of a plan's time that is added to the extra time of its steps.
  void descend(Trial at, double thrift, int64_t until, int64_t at_most = 0) {
    thrift_ = thrift;
    int64_t end = until;
    while (frontier_.plans < end && at.point.temp_bytes > kSmallArena && !is_enough() && !context_.should_stop()) {
      std::vector<Series> steps = next_.from(at);
      // If plans are few, more and more recomputation saves most: it comes first.
      if (next_.state.has_few_plans && !steps.empty()) attempt_all(std::vector<Series>{steps.front()});
      attempt_all(steps, next_.state.has_few_plans ? kWorsePotential * at.potential : kNoBound);
      begin_easier(at, steps);
      stage_->done(static_cast<double>(frontier_.plans));
      const Trial* best = best_of(steps, [&](const Trial& trial) { return worth(at, trial); });
      if (best == nullptr) return;
      end = best->potential < kGoodStep * at.potential ? std::max(until, at_most) : until;
      at = Trial(*best);
    }
  }

  /// Attempts the first step of each series, then the second of those whose first was neither too slow nor above this
  /// potential, and so on.
  void attempt_all(const std::vector<Series>& steps, double most_potential = kNoBound) {
    std::vector<bool> is_given_up(steps.size(), false);
    for (size_t round = 0;; ++round) {
      std::vector<Decisions> all, next;
      for (size_t k = 0; k < steps.size(); ++k) {
        const std::vector<Decisions>& mine = steps[k].steps;
        if (is_given_up[k] || round >= mine.size()) continue;
        all.push_back(mine[round]);
        const size_t after = std::min(mine.size(), round + 1 + kMostAhead);
        for (size_t later = round + 1; later < after; ++later) next.push_back(mine[later]);
      }
      if (all.empty() || is_enough()) break;
      attempt_all(all, next);
      for (size_t k = 0; k < steps.size(); ++k) {
        if (round >= steps[k].steps.size()) continue;
        const Trial* trial = tried(steps[k].steps[round]);
        if (trial && (trial->point.ns > next_.state.most_ns || trial->potential > most_potential))
          is_given_up[k] = true;
      }
    }
    ahead_.clear();
  }

  /// Prepends an easier step to each series whose first step saves memory, but is too slow since its tiles are small.
  void begin_easier(const Trial& at, std::vector<Series>& all) {
    for (Series& series : all) {
      for (const Decisions& easier : series.easier) {
        if (!too_slow(at, series.steps.front())) break;
        series.steps.insert(series.steps.begin(), easier);
        attempt_all(std::vector<Decisions>{easier});
      }
      begin_coarse(at, series);
    }
  }

  /// The tried plan if it saves memory, but takes too long; otherwise null.
  const Trial* too_slow(const Trial& at, const Decisions& decisions) const {
    const Trial* trial = tried(decisions);
    return trial && trial->point.ns > next_.state.most_ns && gained(at, *trial) > 0 ? trial : nullptr;
  }

  /// If the coarsest tiles tried are still too slow, as in a loop of many iterations, the added time of these says
  /// which tiles aren't: it grows with their number.
  void begin_coarse(const Trial& at, Series& series) {
    if (series.coarse.empty()) return;  // as it is without steps
    const Trial* trial = too_slow(at, series.steps.front());
    if (trial == nullptr) return;
    const double added = trial->point.ns - at.point.ns;
    const auto tile_of = [](const Decisions& decisions) { return std::get<StreamDecision>(decisions.back()).tile; };
    for (const Decisions& coarse : series.coarse) {
      const double parts = static_cast<double>(tile_of(trial->point.decisions)) / static_cast<double>(tile_of(coarse));
      if (at.point.ns + parts * added > next_.state.most_ns) continue;
      series.steps.insert(series.steps.begin(), coarse);
      attempt_all(std::vector<Decisions>{coarse});
      return;
    }
  }

  /// Drops points that another one beats, and points that take too long.
  void keep_best() {
    auto& points = frontier_.points;
    std::erase_if(points, [&](const FrontierPoint& point) { return point.ns > next_.state.most_ns; });
    std::stable_sort(points.begin(), points.end(), [](const FrontierPoint& a, const FrontierPoint& b) {
      return a.ns != b.ns ? a.ns < b.ns : a.peak_bytes < b.peak_bytes;
    });
    std::vector<FrontierPoint> kept;
    for (FrontierPoint& point : points) {
      if (kept.empty() || is_worth_its_time(kept.back(), point)) kept.push_back(std::move(point));
    }
    // A limit equal to the free plan's peak must allow the free plan.
    if (!kept.empty() && kept.back().peak_bytes > frontier_.free.peak_bytes) kept.push_back(frontier_.free);
    points = std::move(kept);
  }

  /// Does the lower plan save enough for its extra time? An equally fast one need only be lower.
  bool is_worth_its_time(const FrontierPoint& faster, const FrontierPoint& lower) const {
    const double less = 1 - static_cast<double>(lower.peak_bytes) / static_cast<double>(faster.peak_bytes);
    const double for_twice = lower.ns > kUsualTime * frontier_.free.ns ? kLeastPeakIfSlow : kLeastPeakForTime;
    return less > 0 && less >= for_twice * (lower.ns / faster.ns - 1);
  }

  const Planner& planner_;
  const FrontierOptions& options_;
  std::optional<Stage> stage_;
  const Decisions plain_ = planner_.target().takes() == Takes::kModule ? Decisions() : without_streams();
  Frontier frontier_;
  int64_t budget_ = 0, lowest_ = -1, plans_until_gain_ = 0;
  double thrift_ = 1, price_of_gain_ = 0;
  double unhoisted_ns_ = 0;  ///< of the plan without streams, if the search for the free plan starts from a hoisted one
  NextSteps next_;
  Context& context_ = planner_.context();
  const bool is_brief_ = options_.only_free && context_.settings().brief_search;
  const int threads_ = threads_for(planner_);
  std::map<std::string, std::optional<Trial>> tried_;  ///< by decisions; nothing if these don't apply
  std::map<std::string, Result<Measured>> ahead_;      ///< by decisions: measured, but not attempted yet
};

}  // namespace

const FrontierPoint* Frontier::within(int64_t limit) const {
  for (const FrontierPoint& point : points) {
    if (point.peak_bytes <= limit) return &point;
  }
  return nullptr;
}

const FrontierPoint& Frontier::within_time(double times) const {
  const FrontierPoint* lowest = &points.front();
  for (const FrontierPoint& point : points) {
    if (point.ns <= times * std::min(plain_ns, free.ns)) lowest = &point;
  }
  return *lowest;
}

const FrontierPoint& Frontier::balanced_within_time(double times) const {
  const auto price = [](const FrontierPoint& p) {
    return static_cast<double>(p.peak_bytes + p.temp_bytes) * std::pow(p.ns, kBalancedExponent);
  };
  const FrontierPoint* best = &points.front();
  for (const FrontierPoint& point : points) {
    if (point.ns <= times * std::min(plain_ns, free.ns) && price(point) < price(*best)) best = &point;
  }
  return *best;
}

std::optional<int64_t> Frontier::peak_of(const Decisions& decisions) const {
  const auto known = peaks.find(key_of(decisions));
  return known == peaks.end() ? std::nullopt : std::optional(known->second);
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
  // When debugging, the chosen plan is made again, so that the output shows it.
  if (chosen == frontier.free.decisions && !planner.context().is_debugging()) return std::move(frontier.free_plan);
  frontier = {};  // so that two plans of a large module aren't in memory at once
  return compile_plan(module, target, chosen);
}

}  // namespace lowtide::engine
