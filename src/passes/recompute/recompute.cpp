#include "passes/recompute/recompute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/thread_pool.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/recompute/lift_slices.h"
#include "passes/recompute/lives.h"
#include "passes/recompute/moment.h"
#include "passes/recompute/order.h"
#include "passes/rules/recipe.h"
#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {
namespace {

constexpr int kMostLevels = 3;                          ///< of nested loops whose stacks are chosen
constexpr size_t kMostRounds = 24;                      ///< fullest moments that are considered
constexpr size_t kPatience = 3;                         ///< how many in a row may fail to lower the peak
constexpr double kLeastGain = 2e-3;                     ///< of the peak: the least reduction that counts
constexpr double kLeastPart = 1.0 / 32, kMostPart = 4;  ///< prices tried, in units of the entry's ns per live byte
constexpr int64_t kWideGap = 16;  ///< between offers that differ by more than 1/kWideGap of the bytes one more is tried
constexpr double kLeastStep = 1.05;  ///< unless the ratio of the prices is less
constexpr int kMostBetween = 12;
constexpr double kRounded = 1.001;          ///< covers the rounding of prices in plan files
constexpr double kLeastOffer = 0.06;        ///< of the live bytes: smaller savings aren't offered,
constexpr double kLeastLastOffer = 0.02;    ///< but for the last one
constexpr int64_t kNames = 10;              ///< less than 1/kNames of the names may be missing for other extents
constexpr int64_t kFewInstructions = 6000;  ///< of the entry; in larger ones fewer combinations are tried
constexpr int64_t kLeastAlive = 1 << 16;    ///< live bytes; for fewer, nothing is offered

double entry_ns(const Module& module, const Target& target) {
  return time_of(*module.entry, target.cost()) / target.cost().machine().cores;
}

/// At one moment: which values up to `place` are recomputed for later readers, by place.
struct Made {
  int32_t place = 0;
  std::vector<bool> made;
};

struct Rounds {
  std::vector<StacksChoice> stacks;
  std::vector<Made> moments;  ///< after all of these, `least` bytes are live at most
  int64_t made = 0, least = 0;
};

/// Chooses what is saved, and removes stacks that are no longer saved. A loop that is recomputed in another loop's body
/// fills stacks for that body's loops: hence the rounds.
std::vector<StacksChoice> choose_stacks(Module& module, const Target& target, double ns_per_byte) {
  std::vector<StacksChoice> stacks;
  for (int round = 0; round < kMostLevels; ++round) {
    const std::vector<StacksChoice> found = recompute_stacks(module, target, ns_per_byte);
    if (found.empty()) break;
    LT_ASSERT(remove_dead_code(module).ok(), "dead code can be removed");
    stacks.insert(stacks.end(), found.begin(), found.end());
  }
  return stacks;
}

Rounds find_rounds(Module& module, const Target& target, double ns_per_byte) {
  Rounds best, now;
  now.stacks = choose_stacks(module, target, ns_per_byte);
  now.made = std::ssize(now.stacks);
  while (true) {
    const Moment moment(*module.entry);
    const auto few = static_cast<int64_t>((1 - kLeastGain) * static_cast<double>(best.least));
    if (now.moments.empty() || moment.load() < few) {
      now.least = moment.load();
      best = now;
    }
    if (now.moments.size() >= kMostRounds || now.moments.size() > best.moments.size() + kPatience) return best;
    Made& next = now.moments.emplace_back(Made{moment.place(), moment.choose(target, ns_per_byte)});
    const int64_t more = make_again(*module.entry, next.place, next.made);
    if (more == 0) return best;
    now.made += more;
  }
}

MadeAgain named(const Made& moment, const Computation& computation) {
  MadeAgain by_name;
  int32_t place = 0;
  for (const auto& i : computation.instructions()) {
    const auto at = static_cast<size_t>(place);
    if (at < moment.made.size() && moment.made[at]) by_name.made.push_back(i->name);
    if (place++ == moment.place) by_name.last = i->name;
  }
  return by_name;
}

/// The module must be in good order.
Rounds recompute_in_order(Module& module, const Target& target, double ns_per_byte,
                          std::vector<MadeAgain>* done = nullptr) {
  Rounds best = find_rounds(*module.clone(), target, ns_per_byte);
  choose_stacks(module, target, ns_per_byte);
  for (const Made& m : best.moments) {
    if (done != nullptr) done->push_back(named(m, *module.entry));
    make_again(*module.entry, m.place, m.made);
  }
  return best;
}

std::vector<std::string> names_of(const Computation& computation) {
  std::vector<std::string> names;
  for (const auto& i : computation.instructions()) names.push_back(i->name);
  return names;
}

/// Puts instructions with these names in this order, each after its operands, and all others as late as possible.
/// False: the order isn't possible, or a tenth of the names or more is missing.
bool put_in_order(Computation& computation, const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, int32_t> rank;
  for (const std::string& name : names) rank.emplace(name, static_cast<int32_t>(rank.size()));
  std::vector<Instruction*> known, order;
  for (const auto& i : computation.instructions()) {
    if (rank.contains(i->name)) known.push_back(i.get());
  }
  if (std::ssize(known) * kNames <= std::ssize(names) * (kNames - 1)) return false;
  std::ranges::sort(known, {}, [&](const Instruction* i) { return rank.at(i->name); });
  std::unordered_set<const Instruction*> placed;
  int32_t reached = -1;
  const auto put = [&](auto&& self, Instruction* i) -> bool {
    if (!placed.insert(i).second) return true;
    if (const auto at = rank.find(i->name); at != rank.end() && at->second > reached) return false;
    for (const auto* all : {&i->operands, &i->control_predecessors}) {
      if (!std::ranges::all_of(*all, [&](Instruction* before) { return self(self, before); })) return false;
    }
    order.push_back(i);
    return true;
  };
  for (Instruction* i : known) {
    reached = rank.at(i->name);
    if (!put(put, i)) return false;
  }
  reached = static_cast<int32_t>(rank.size());
  for (Instruction* i : instructions_of(computation)) put(put, i);
  computation.reorder(order);
  return true;
}

/// False: the computation has no such moment.
bool make_alike(Computation& computation, const MadeAgain& by_name) {
  const std::unordered_set<std::string_view> names(by_name.made.begin(), by_name.made.end());
  int32_t place = -1, next = 0;
  std::vector<bool> made;
  for (const auto& i : computation.instructions()) {
    made.push_back(names.contains(i->name));
    if (i->name == by_name.last) place = next;
    ++next;
  }
  if (place < 0) return false;
  made.resize(static_cast<size_t>(place) + 1);
  make_again(computation, place, made);
  return true;
}

/// Of offers at rising prices, each with more time, those that save enough bytes; and the one of fewest bytes, if it
/// saves less than that, but some.
std::vector<RecomputeOffer> worth_offering(std::vector<RecomputeOffer> all, int64_t given, double most_ns) {
  std::erase_if(all, [&](const RecomputeOffer& o) { return o.ns >= most_ns; });
  std::ranges::stable_sort(all, {}, &RecomputeOffer::ns);
  std::vector<RecomputeOffer> offers;
  int64_t most = given;
  const auto offer_if = [&](const RecomputeOffer& o, double least) {
    if (static_cast<double>(o.most) > (1 - least) * static_cast<double>(most)) return;
    most = o.most;
    offers.push_back(o);
  };
  for (const RecomputeOffer& o : all) offer_if(o, kLeastOffer);
  const auto fewest = std::ranges::min_element(all, {}, &RecomputeOffer::most);
  if (fewest != all.end()) offer_if(*fewest, kLeastLastOffer);
  return offers;
}

/// The last offer, and the one after which the price of a byte rises most: up to there recomputing is cheap.
std::vector<RecomputeOffer> where_prices_rise(const std::vector<RecomputeOffer>& all, int64_t given) {
  if (all.empty()) return {};
  const auto price = [&](size_t k) {
    const double ns = all[k].ns - (k > 0 ? all[k - 1].ns : 0);
    return ns / static_cast<double>((k > 0 ? all[k - 1].most : given) - all[k].most);
  };
  size_t knee = all.size() - 1;
  double most = 0;
  for (size_t k = 0; k + 1 < all.size(); ++k) {
    if (const double rise = price(k + 1) / std::max(price(k), 1e-9); rise > most) most = rise, knee = k;
  }
  if (knee + 1 == all.size()) return {all.back()};
  return {all[knee], all.back()};
}

/// Offers, at several prices, of what the room of later moments allows after recomputation at `before`.
std::vector<RecomputeOffer> offers_in_room(Module& recomputed, const Target& target, const RecomputeOffer& before,
                                           double most_ns) {
  const InRoom all = recompute_in_room(*recomputed.entry, target, std::numeric_limits<double>::infinity());
  std::vector<RecomputeOffer> offers;
  int64_t most = before.most;
  for (size_t k = 0; k < all.points.size(); ++k) {
    const RoomPoint& point = all.points[k];
    const bool is_last = k + 1 == all.points.size();
    if (!is_last && all.points[k + 1].ns_per_byte < kLeastStep * point.ns_per_byte) {
      const bool is_far = static_cast<double>(point.most) < (1 - kLeastOffer) * static_cast<double>(most);
      if (!is_far || all.points[k + 1].ns_per_byte <= kRounded * point.ns_per_byte) continue;
    }
    if (before.ns + point.ns >= most_ns) break;
    const double price = std::stod(fmt::format("{:.4g}", point.ns_per_byte * kRounded));
    offers.push_back({{before.price.ns_per_byte, price}, point.most, before.ns + point.ns});
    most = point.most;
  }
  return offers;
}

}  // namespace

Result<PassResult> recompute(Module& module, const Target& target, RecomputePrice price, Recomputed* done) {
  PassResult result;
  const bool is_lifted = lift_slices(module);
  put_in_good_order(*module.entry);
  if (done != nullptr) done->order = names_of(*module.entry);
  Rounds best = recompute_in_order(module, target, price.ns_per_byte, done != nullptr ? &done->moments : nullptr);
  InRoom more;
  if (price.in_room > 0) {
    LT_ASSERT(remove_dead_code(module).ok(), "dead code can be removed");
    more = recompute_in_room(*module.entry, target, price.in_room);
  }
  best.made += std::ssize(more.steps);
  if (done != nullptr) done->in_room = std::move(more.steps);
  result.count = best.made;
  result.changed = best.made > 0 || is_lifted;
  result.note = fmt::format("{} values made again, {} pairs of loops, {} fullest moments", best.made,
                            best.stacks.size(), best.moments.size());
  if (result.changed) module.is_scheduled = false;
  if (done != nullptr) done->stacks = std::move(best.stacks);
  return result;
}

bool recompute_alike(Module& module, const Target& target, const Recomputed& done) {
  lift_slices(module);
  if (!put_in_order(*module.entry, done.order)) return false;
  for (const StacksChoice& choice : done.stacks) {
    if (!recompute_stacks_alike(module, choice) || !remove_dead_code(module).ok()) return false;
  }
  for (const MadeAgain& moment : done.moments) {
    if (!make_alike(*module.entry, moment)) return false;
  }
  if (!done.in_room.empty()) {
    LT_ASSERT(remove_dead_code(module).ok(), "dead code can be removed");
    if (!recompute_in_room_alike(*module.entry, target, done.in_room)) return false;
  }
  return !done.moments.empty() || !done.stacks.empty() || !done.in_room.empty();
}

std::vector<RecomputeOffer> recompute_offers(const Module& module, const Target& target) {
  const std::unique_ptr<Module> ordered = module.clone();
  LT_ASSERT(remove_dead_code(*ordered).ok(), "dead code can be removed");
  lift_slices(*ordered);
  put_in_good_order(*ordered->entry);
  const double before = entry_ns(*ordered, target);
  const int64_t given = Lives(*ordered->entry, find_virtual_values(*ordered)).most();
  if (given < kLeastAlive) return {};
  const auto recomputed = [&](double price) {
    std::unique_ptr<Module> trial = ordered->clone();
    Rounds rounds = recompute_in_order(*trial, target, price);
    LT_ASSERT(remove_dead_code(*trial).ok(), "dead code can be removed");
    return std::pair(std::move(trial), std::move(rounds));
  };
  const auto offer = [&](double ns_per_byte) {
    const double price = std::stod(fmt::format("{:.3g}", ns_per_byte));  // few digits, for plan files
    const auto [trial, rounds] = recomputed(price);
    return RecomputeOffer{{price, 0}, rounds.least, std::max(0.0, entry_ns(*trial, target) - before)};
  };

  // At a price of 1 part, keeping all live bytes costs as much as the entry's whole time.
  std::vector<double> parts;
  for (double part = kLeastPart; part <= kMostPart; part *= 2) parts.push_back(part);
  std::vector<RecomputeOffer> first(parts.size());
  module.context().pool().run(std::ssize(parts), [&](int64_t task, int) {
    const auto k = static_cast<size_t>(task);
    first[k] = offer(parts[k] * before / static_cast<double>(given));
  });
  std::vector<RecomputeOffer> all{{{}, given, 0}};
  for (size_t k = 0; k < first.size() && all.back().ns < before; ++k) all.push_back(first[k]);
  for (int k = 0; k < kMostBetween; ++k) {
    size_t widest = 0;
    int64_t gap = given / kWideGap;
    for (size_t n = 1; n + 1 < all.size(); ++n) {
      if (all[n].most - all[n + 1].most <= gap || all[n + 1].price.ns_per_byte < kLeastStep * all[n].price.ns_per_byte)
        continue;
      gap = all[n].most - all[n + 1].most;
      widest = n;
    }
    if (widest == 0) break;
    const double between = std::sqrt(all[widest].price.ns_per_byte * all[widest + 1].price.ns_per_byte);
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(widest) + 1, offer(between));
  }

  // At the dearest price most is recomputed at the first fullest moment, which can make later ones fuller than at lower
  // prices, and yet leave more room in the end.
  const RecomputeOffer dearest = all.back();
  all = worth_offering(std::move(all), given, before);
  std::vector<RecomputeOffer> ends = where_prices_rise(all, given);
  const bool is_small = std::ssize(ordered->entry->instructions()) <= kFewInstructions;
  if (is_small && !ends.empty() && dearest.price != ends.back().price && dearest.ns < before) ends.push_back(dearest);
  std::vector<std::vector<RecomputeOffer>> more(ends.size());
  module.context().pool().run(std::ssize(ends), [&](int64_t task, int) {
    const RecomputeOffer& from = ends[task];
    more[task] = offers_in_room(*recomputed(from.price.ns_per_byte).first, target, from, before);
  });
  for (const auto& some : more) all.insert(all.end(), some.begin(), some.end());
  return worth_offering(std::move(all), given, before);
}

}  // namespace lowtide::engine
