#include "compile/next_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <tuple>

namespace lowtide::engine {
namespace {

constexpr size_t kFewTiles = 2;                       ///< tried per stream if plans are few
constexpr size_t kAllPrices = 1000, kFewPrices = 12;  ///< of recomputation, tried in one step
constexpr size_t kMostAmong = 4;                      ///< prices tried after streams: each list of streams has its own
constexpr size_t kMostKeeping = 3;                    ///< prices of what a stream keeps, tried in one step
constexpr size_t kMostCandidates = 6;                 ///< tried in one step
constexpr double kExtraTime[] = {0.02, 0.1, 0.4, 3};  ///< of the time that a plan may take, for one more stream
constexpr double kHopeless = 1.25;                    ///< of the time that a plan may take: slower streams aren't tried
constexpr int64_t kMostEasier = 3;                    ///< coarser tiles, if all that were tried are too slow
constexpr double kFreeExtraTime = 0.4;                ///< the largest of these that the free plan may use

std::string listed(const StreamCandidate& candidate) {
  std::string text;
  for (const StreamDecision& d : candidate.decisions(candidate.decision.tile)) text += to_text(d) + " ";
  return text;
}

/// Drops duplicates: equal streams around different seeds.
std::vector<StreamCandidate> distinct(std::vector<StreamCandidate> all) {
  std::set<std::tuple<std::string, int64_t, double, double, double>> known;
  std::erase_if(all, [&](const StreamCandidate& c) {
    return !known.insert({c.decision.computation, c.extent, c.hidden_bytes, c.again_ns, c.ns_per_tile}).second;
  });
  return all;
}

/// For each stream, steps that make its tiles finer; streams inside it keep their tiles.
void add_finer(const Trial& at, std::vector<Series>& steps) {
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

/// Adds a decision that a plan can have only once, before the streams if it takes effect there.
template <class Kind>
void add_once(const Trial& at, std::vector<Series>& steps) {
  Decisions decisions = at.point.decisions;
  if (has<Kind>(decisions)) return;
  const bool is_before = comes_before_streams(Kind{});
  decisions.insert(is_before ? std::ranges::find_if_not(decisions, comes_before_streams) : decisions.end(), Kind{});
  steps.push_back({.steps = {std::move(decisions)}});
}

/// At most `most` of them: the last, and others at equal distances.
template <class T>
std::vector<T> spread(const std::vector<T>& all, size_t most) {
  std::vector<T> some;
  const size_t count = std::min(most, all.size());
  for (size_t k = 1; k <= count; ++k) some.push_back(all[all.size() * k / count - 1]);
  return some;
}

/// The offers that recompute more than the one of this price.
std::span<const RecomputeOffer> after(const RecomputePrice& price, std::span<const RecomputeOffer> offers) {
  const auto at = std::ranges::find(offers, price, &RecomputeOffer::price);
  return at == offers.end() ? offers : offers.subspan(static_cast<size_t>(at - offers.begin()) + 1);
}

}  // namespace

bool is_recompute(const Decision& decision) { return std::holds_alternative<Recompute>(decision); }

std::string key_of(const Decisions& decisions) {
  std::string key;
  for (const Decision& d : decisions) key += to_string(d) + "\n";
  return key;
}

std::vector<Series> NextSteps::from(const Trial& at) const {
  std::vector<Series> steps;
  const bool has_streams = first_stream(at.point.decisions) < at.point.decisions.size();
  if (!state.has_few_plans || !has_streams) add_recompute(at, state.has_few_plans ? kFewPrices : kAllPrices, steps);
  add_recompute_among(at, kMostAmong, steps);
  add_groups(at, steps);
  add_offload(at, steps);
  add_streams(at, steps);
  if (!state.has_few_plans || is_within_streams(at)) add_finer(at, steps);
  if (at.could_rearrange) add_once<Rearrange>(at, steps);
  if (planner_.could_update()) add_once<UpdateInLoops>(at, steps);
  return steps;
}

/// Are values at the peak live in a loop that a stream made?
bool NextSteps::is_within_streams(const Trial& at) const {
  return std::ranges::any_of(at.at_peak, [&](const PeakValue& value) {
    return planner_.shared().find_computation(value.computation) == nullptr;
  });
}

/// Tile sizes worth trying: for each limit on the extra time (kExtraTime), the finest tile within it.
std::vector<int64_t> NextSteps::some_tiles(const StreamCandidate& candidate) const {
  std::vector<int64_t> tiles;
  for (const double part : kExtraTime) {
    if (!state.is_free_found && part > kFreeExtraTime) break;
    int64_t finest = 0;
    for (const int64_t tile : candidate.tiles) {
      const double parts = std::ceil(static_cast<double>(candidate.extent) / static_cast<double>(tile));
      const double extra = candidate.again_ns + parts * candidate.ns_per_tile;
      if (extra > part * state.most_ns && finest > 0) break;
      finest = tile;
    }
    if (finest > 0 && (tiles.empty() || tiles.back() != finest)) tiles.push_back(finest);
    if (state.has_few_plans && tiles.size() == kFewTiles) break;
  }
  return tiles;
}

/// What could be streamed next; cached, since descents with different thrift start from the same plans.
const std::vector<StreamCandidate>& NextSteps::candidates_at(const Trial& at) const {
  const auto [known, is_new] = candidates_.try_emplace(key_of(at.point.decisions));
  if (!is_new) return known->second;
  const auto module = planner_.streamed(at.point.decisions);
  if (!module.ok()) return known->second;
  const std::vector<const Instruction*> seeds = find_values(**module, at.at_peak);
  if (seeds.empty()) return known->second;
  std::vector<StreamCandidate>& candidates = known->second;
  candidates = distinct(stream_candidates(**module, planner_.target(), seeds, {.in_all_layers = state.has_few_plans}));
  if (planner_.context().shows(DebugLevel::kAll, "fit")) {
    for (const Instruction* i : seeds) planner_.context().print("fit: at the peak " + i->parent->name + " " + i->name);
    for (const StreamCandidate& c : candidates) {
      planner_.context().print(fmt::format("fit: candidate {} hides {:.1f} MiB, {:.3f} ms again, {:.1f} us a tile",
                                           listed(c), c.hidden_bytes / 1048576, 1e-6 * c.again_ns,
                                           1e-3 * c.ns_per_tile));
    }
  }
  return candidates;
}

/// The candidates worth a plan: the best streams, then the best stream of only some passes, the best that keeps values
/// between passes, and the best with separate products. Excludes those that recompute too much with tiles of any size.
std::vector<const StreamCandidate*> NextSteps::worth_trying(const Trial& at) const {
  std::vector<const StreamCandidate*> streams;
  const StreamCandidate *partial = nullptr, *keeping = nullptr, *apart = nullptr;
  for (const StreamCandidate& c : candidates_at(at)) {
    if (at.point.ns + c.again_ns > kHopeless * state.most_ns) continue;
    const bool is_whole = c.before.empty() && c.decision.store == 0 && c.decision.passes == 0;
    const StreamCandidate*& best = !c.before.empty() ? apart : c.decision.store > 0 ? keeping : partial;
    if (is_whole && streams.size() < kMostCandidates) streams.push_back(&c);
    if (!is_whole && best == nullptr) best = &c;
  }
  const bool is_program = planner_.target().takes() == Takes::kProgram;
  if (is_program && partial != nullptr) streams.push_back(partial);
  if ((is_program || state.tries_dear_ways) && keeping != nullptr) streams.push_back(keeping);
  if (state.tries_dear_ways && apart != nullptr) streams.push_back(apart);
  return streams;
}

void NextSteps::add_streams(const Trial& at, std::vector<Series>& steps) const {
  for (const StreamCandidate* worth : worth_trying(at)) {
    const StreamCandidate& candidate = *worth;
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
    for (auto tile = std::ranges::find(all, tiles.front()); tile != all.begin();) {
      auto& coarser = std::ssize(series.easier) < kMostEasier ? series.easier : series.coarse;
      coarser.push_back(with_tile(*--tile));
    }
  }
}

void NextSteps::add_recompute(const Trial& at, size_t most, std::vector<Series>& steps) const {
  Decisions decisions = at.point.decisions;
  const auto before_streams = [&] { return std::span(decisions).first(first_stream(decisions)); };
  RecomputePrice price;
  if (const auto so_far = std::ranges::find_if(before_streams(), is_recompute); so_far != before_streams().end()) {
    price = std::get<Recompute>(*so_far).price;
    decisions.erase(decisions.begin() + (so_far - before_streams().begin()));
  }
  decisions.insert(decisions.begin(), Recompute{});
  std::vector<RecomputePrice> prices;
  for (const RecomputeOffer& offer : after(price, planner_.recompute_offers())) {
    if (offer.ns <= state.most_ns) prices.push_back(offer.price);
  }
  Series& series = steps.emplace_back();
  for (const RecomputePrice& one : spread(prices, most)) {
    series.steps.push_back(decisions);
    series.steps.back().front() = Recompute{one};
  }
}

void NextSteps::add_recompute_among(const Trial& at, size_t most, std::vector<Series>& steps) const {
  Decisions decisions = at.point.decisions;
  if (!state.is_free_found) return;
  if (first_stream(decisions) == decisions.size() || planner_.recompute_offers().empty()) return;
  RecomputePrice price;
  if (is_recompute(decisions.back())) {
    price = std::get<Recompute>(decisions.back()).price;
    decisions.pop_back();
  }
  decisions.emplace_back(Recompute{});
  std::vector<RecomputePrice> prices;
  for (const RecomputeOffer& offer : after(price, offers_among(decisions))) {
    if (at.point.ns + offer.ns <= state.most_ns) prices.push_back(offer.price);
  }
  Series& series = steps.emplace_back();
  for (const RecomputePrice& one : spread(prices, most)) {
    series.steps.push_back(decisions);
    series.steps.back().back() = Recompute{one};
  }
}

void NextSteps::add_dearer_recompute(const Trial& at, std::vector<Series>& steps) const {
  constexpr int kDoublings = 3;
  Decisions decisions = at.point.decisions;
  if (decisions.empty() || !is_recompute(decisions.back())) return;
  RecomputePrice& price = std::get<Recompute>(decisions.back()).price;
  Series& series = steps.emplace_back();
  for (int k = 0; k < kDoublings; ++k) {
    price.ns_per_byte *= 2;
    series.steps.push_back(decisions);
  }
}

void NextSteps::add_dearer_keeping(const Trial& at, std::vector<Series>& steps) const {
  const Decisions& all = at.point.decisions;
  for (size_t k = 0; k < all.size(); ++k) {
    const auto* stream = std::get_if<StreamDecision>(&all[k]);
    if (stream == nullptr || stream->store == 0) continue;
    const auto known = candidates_.find(key_of(Decisions(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k))));
    if (known == candidates_.end()) continue;
    const auto is_same = [&](const StreamCandidate& c) {
      const StreamDecision& d = c.decision;
      return c.before.empty() && d.computation == stream->computation && d.seed == stream->seed &&
             d.dimension == stream->dimension;
    };
    const auto now = std::ranges::find_if(
        known->second, [&](const StreamCandidate& c) { return is_same(c) && c.decision.store == stream->store; });
    if (now == known->second.end()) continue;
    std::vector<double> prices;
    for (const StreamCandidate& c : known->second) {
      const bool is_dearer = is_same(c) && c.decision.store > stream->store;
      if (is_dearer && at.point.ns + c.again_ns - now->again_ns <= state.most_ns) prices.push_back(c.decision.store);
    }
    std::ranges::sort(prices);
    Series series;
    for (const double price : spread(prices, kMostKeeping)) {
      series.steps.push_back(all);
      std::get<StreamDecision>(series.steps.back()[k]).store = price;
    }
    if (!series.steps.empty()) steps.push_back(std::move(series));
  }
}

/// Offers for the module with all streams; ignores the last decision.
const std::vector<RecomputeOffer>& NextSteps::offers_among(const Decisions& decisions) const {
  const Decisions part(decisions.begin(), decisions.end() - 1);
  const auto [known, is_new] = offers_.try_emplace(key_of(part));
  if (!is_new) return known->second;
  if (const auto module = planner_.streamed(part); module.ok())
    known->second = recompute_offers(**module, planner_.target());
  return known->second;
}

/// Loops that save every k iterations, or groups of groups: only once, after other recomputation. Before the free plan
/// is found, only the single grouping that saves most.
void NextSteps::add_groups(const Trial& at, std::vector<Series>& steps) const {
  if (has<SaveEvery>(at.point.decisions)) return;
  const auto offer = [&](std::span<const Grouping> levels) {
    Decisions decisions = at.point.decisions;
    const auto place = std::ranges::find_if_not(decisions, comes_before_streams);
    std::vector<Decision> made;
    for (const Grouping& grouping : levels) made.emplace_back(SaveEvery{grouping});
    decisions.insert(place, made.begin(), made.end());
    steps.push_back({.steps = {std::move(decisions)}});
  };
  const std::span<const Grouping> all = planner_.groupings();
  for (const Grouping& grouping : state.is_free_found || all.empty() ? all : all.last(1)) offer({&grouping, 1});
  if (!state.is_free_found) return;
  for (const std::vector<Grouping>& levels : planner_.nested_groupings()) offer(levels);
}

/// Moves more and more values to the host's memory, if the machine has a separate one; after recomputation.
void NextSteps::add_offload(const Trial& at, std::vector<Series>& steps) const {
  if (planner_.target().takes() != Takes::kProgram || !planner_.target().cost().has_host_memory()) return;
  if (!state.is_free_found) return;  // the free plan leaves values where the program has them
  Decisions decisions = at.point.decisions;
  int64_t count = 1;
  const auto is_offload = [](const Decision& d) { return std::holds_alternative<Offload>(d); };
  if (const auto so_far = std::ranges::find_if(decisions, is_offload); so_far != decisions.end()) {
    count = 2 * std::get<Offload>(*so_far).count;
    decisions.erase(so_far);
  }
  const auto place = std::ranges::find_if_not(decisions, comes_before_streams) - decisions.begin();
  Series& series = steps.emplace_back();
  const int64_t most = planner_.offloadable();
  for (; count < 2 * most; count *= 2) {
    series.steps.push_back(decisions);
    series.steps.back().insert(series.steps.back().begin() + place, Offload{std::min(count, most)});
  }
}

}  // namespace lowtide::engine
