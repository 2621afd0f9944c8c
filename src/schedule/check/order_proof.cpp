#include "schedule/check/order_proof.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "ir/side_effects.h"
#include "schedule/check/held_bytes.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostTrips = 64;  ///< of a loop; if addresses haven't recurred by then, its steps must form a chain
constexpr int64_t kMostVisits = 4'000'000, kVisitsPerStep = 64;  ///< beyond these, all steps must form a chain

using Steps = std::vector<ProgramStep>;
using Pairs = std::vector<std::pair<int32_t, int32_t>>;

struct Use {
  BytePlace bytes;
  bool writes = false;
  int32_t step = 0;
};

/// Sweeps over all bytes, with the steps that touch the current byte; collects the pairs of neighbouring steps that
/// conflict.
class Line {
 public:
  explicit Line(Pairs& pairs) : pairs_(pairs) {}

  void go_over(const std::vector<Use>& uses) {
    struct End {
      int32_t space;
      int64_t at;
      bool begins;
      const Use* use;
    };
    std::vector<End> ends;
    for (const Use& use : uses) {
      if (use.bytes.empty()) continue;
      ends.push_back({use.bytes.space, use.bytes.begin, true, &use});
      ends.push_back({use.bytes.space, use.bytes.end, false, &use});
    }
    std::ranges::sort(ends, {}, [](const End& e) { return std::tuple(e.space, e.at, e.begins, e.use->step); });
    for (const End& end : ends) end.begins ? add(*end.use) : remove(*end.use);
  }

 private:
  using Counted = std::map<int32_t, int>;  ///< by step: how many of its uses include the current byte

  void pair(int32_t earlier, int32_t later) {
    if (earlier < later) pairs_.emplace_back(earlier, later);
  }

  /// The nearest writers before and after a step; -1 if none.
  std::pair<int32_t, int32_t> around(int32_t step) const {
    const auto next = writers_.upper_bound(step);
    const auto from = writers_.lower_bound(step);
    return {from == writers_.begin() ? -1 : std::prev(from)->first, next == writers_.end() ? -1 : next->first};
  }

  /// Calls `with` for each reader between two steps.
  template <class Do>
  void readers_between(int32_t from, int32_t to, const Do& with) {
    const auto end = to == -1 ? readers_.end() : readers_.lower_bound(to);
    for (auto r = readers_.upper_bound(from); r != end; ++r) with(r->first);
  }

  void add(const Use& use) {
    const auto [before, behind] = around(use.step);
    if (!use.writes) {
      ++readers_[use.step];
      if (before != -1) pair(before, use.step);
      if (behind != -1) pair(use.step, behind);
      return;
    }
    ++writers_[use.step];
    if (before != -1) pair(before, use.step);
    if (behind != -1) pair(use.step, behind);
    readers_between(before, use.step, [&](int32_t r) { pair(r, use.step); });
    readers_between(use.step, behind, [&](int32_t r) { pair(use.step, r); });
  }

  void remove(const Use& use) {
    Counted& of = use.writes ? writers_ : readers_;
    const auto found = of.find(use.step);
    if (--found->second > 0) return;
    of.erase(found);
    const auto [before, behind] = around(use.step);
    if (before != -1 && behind != -1) pair(before, behind);
    if (!use.writes) return;
    if (before != -1) readers_between(before, behind, [&](int32_t r) { pair(before, r); });
    if (behind != -1) readers_between(before, behind, [&](int32_t r) { pair(r, behind); });
  }

  Pairs& pairs_;
  Counted readers_, writers_;
};

/// Are these distinct, ascending numbers of steps before step `at`?
bool are_before(const std::vector<int32_t>& after, size_t at) {
  return std::ranges::adjacent_find(after, std::ranges::greater_equal()) == after.end() &&
         (after.empty() || (after.front() >= 0 && after.back() < static_cast<int64_t>(at)));
}

class OrderProof {
 public:
  explicit OrderProof(const Program& program) : program_(program), memory_(program) {}

  std::string run() {
    if (std::string fault = form_fault(program_.steps); !fault.empty() || is_one_chain(program_.steps)) return fault;
    visits_ = kMostVisits + kVisitsPerStep * count(program_.steps);
    (void)uses_of(program_.steps);
    if (visits_ < 0) return "its loops stand in each other too deeply for steps that aren't one behind another";
    for (auto& [block, pairs] : in_conflict_) {
      std::ranges::sort(pairs);
      pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
      if (std::string fault = unordered(*block, pairs); !fault.empty()) return fault;
    }
    return fault_;
  }

 private:
  /// All uses in a block; also records its pairs of steps in conflict.
  std::vector<Use> uses_of(const Steps& block) {
    std::vector<Use> all;
    for (size_t s = 0; s < block.size() && visits_ >= 0; ++s, --visits_) {
      const size_t before = all.size();
      add_uses(block[s], all);
      for (size_t u = before; u < all.size(); ++u) all[u].step = static_cast<int32_t>(s);
    }
    Line(in_conflict_[&block]).go_over(all);
    return all;
  }

  void add(std::vector<Use>& all, int32_t slot, bool writes) const { all.push_back({memory_.place(slot), writes}); }

  void add_uses(const ProgramStep& s, std::vector<Use>& all) {
    if (s.kind == StepKind::kRotate) memory_.rotate(s.from, s.to);
    if (s.kind == StepKind::kRotate || (s.kind == StepKind::kKernel && s.assembled)) return;
    for (const int32_t slot : s.reads) add(all, slot, false);
    for (const int32_t slot : s.writes) add(all, slot, true);
    if (s.scratch != kNoId) add(all, s.scratch, true);
    const bool is_call = s.kind == StepKind::kLibrary || s.kind == StepKind::kOther;
    if (is_call && has_side_effect(*s.instruction)) all.push_back({{-1, 0, 1}, true});
    if (s.kind == StepKind::kWhile) trips(s, all);
    if (s.kind == StepKind::kConditional) {
      add(all, s.predicate, false);
      for (const Steps& branch : s.blocks) append(all, uses_of(branch));
    }
  }

  static void append(std::vector<Use>& all, const std::vector<Use>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  void trips(const ProgramStep& s, std::vector<Use>& all) {
    const std::vector<int32_t> first = memory_.addresses();
    const bool tests = s.trip_count == kNoId;
    const auto leave = [&] {  // as if the loop ended here
      HeldBytes home = memory_;
      home.settle(s.settle, first);
      for (const int32_t slot : s.settle) {
        if (home.place(slot) == memory_.place(slot)) continue;
        add(all, slot, false);
        all.push_back({home.place(slot), true});
      }
    };
    // Known trip count: the slots' addresses after the last iteration depend on it.
    std::vector<std::vector<int32_t>> at_end;
    for (size_t trip = 0; tests || static_cast<int64_t>(trip) < s.trip_count; ++trip) {
      if (trip > 0 && memory_.addresses() == first) break;
      if (trip == kMostTrips) {
        if (!is_chain(s.blocks[0]) || !is_chain(s.blocks[1]))
          fault_ = "addresses in %" + s.instruction->name + " don't come back, and its steps aren't one behind another";
        for (const int32_t slot : s.settle) add(all, slot, true);
        memory_.settle(s.settle, first);
        return;
      }
      if (tests) {
        append(all, uses_of(s.blocks[0]));
        add(all, s.predicate, false);
        leave();
      }
      append(all, uses_of(s.blocks[1]));
      at_end.push_back(memory_.addresses());
    }
    if (!tests && !at_end.empty()) {
      const auto last = static_cast<size_t>((s.trip_count - 1) % static_cast<int64_t>(at_end.size()));
      std::vector<int32_t> to(first.size());
      for (size_t k = 0; k < first.size(); ++k) to[k] = static_cast<int32_t>(k);
      HeldBytes then(program_);  // with each slot at its address after the last iteration
      then.rotate(at_end[last], to);
      std::swap(memory_, then);
      leave();
    }
    memory_.settle(s.settle, first);
  }

  static std::string form_fault(const Steps& block) {
    std::string fault;
    for (size_t s = 0; s < block.size() && fault.empty(); ++s) {
      if (!are_before(block[s].after, s)) fault = "%" + block[s].instruction->name + " waits for what comes behind it";
      for (size_t b = 0; b < block[s].blocks.size() && fault.empty(); ++b) fault = form_fault(block[s].blocks[b]);
    }
    return fault;
  }

  static bool is_one_chain(const Steps& block) {
    return is_chain(block) && std::ranges::all_of(block, [](const ProgramStep& s) {
             return std::ranges::all_of(s.blocks, [](const Steps& inner) { return is_one_chain(inner); });
           });
  }

  static int64_t count(const Steps& block) {
    int64_t steps = std::ssize(block);
    for (const ProgramStep& s : block) {
      for (const Steps& inner : s.blocks) steps += count(inner);
    }
    return steps;
  }

  static bool is_chain(const Steps& block) {
    for (size_t s = 1; s < block.size(); ++s) {
      if (std::ranges::find(block[s].after, static_cast<int32_t>(s) - 1) == block[s].after.end()) return false;
    }
    return true;
  }

  /// A pair without a path. For 64 steps at a time, finds those for which each later step waits.
  static std::string unordered(const Steps& block, const Pairs& pairs) {
    std::vector<uint64_t> waits(block.size());
    for (auto pair = pairs.begin(); pair != pairs.end();) {
      const auto first = static_cast<size_t>(pair->first) / 64 * 64;
      const auto group = std::ranges::lower_bound(pairs, std::pair(static_cast<int32_t>(first) + 64, 0));
      size_t last = 0;
      for (auto p = pair; p != group; ++p) last = std::max(last, static_cast<size_t>(p->second));
      for (size_t s = first; s <= last; ++s) {
        waits[s] = 0;
        for (const int32_t on : block[s].after) {
          const auto before = static_cast<size_t>(on);
          if (before < first) continue;
          waits[s] |= waits[before];
          if (before < first + 64) waits[s] |= uint64_t{1} << (before - first);
        }
      }
      for (; pair != group; ++pair) {
        const auto [a, b] = *pair;
        if ((waits[b] >> (static_cast<size_t>(a) - first) & 1) != 0) continue;
        return "%" + block[b].instruction->name + " at step " + std::to_string(block[b].at) + " doesn't wait for %" +
               block[a].instruction->name + ", which touches the same bytes";
      }
    }
    return {};
  }

  const Program& program_;
  HeldBytes memory_;  ///< only for the slots' addresses; holds no values
  std::map<const Steps*, Pairs> in_conflict_;
  std::string fault_;
  int64_t visits_ = 0;  ///< of steps, left
};

}  // namespace

std::string fault_of_order(const Program& program) { return OrderProof(program).run(); }

}  // namespace lowtide::engine
