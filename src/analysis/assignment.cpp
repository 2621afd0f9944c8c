#include "analysis/assignment.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

#include "analysis/late_readers.h"

namespace lowtide::engine {
namespace {

/// The position of a leaf of the timeline in the program.
struct Place {
  const Instruction* instruction = nullptr;
  const Frame* frame = nullptr;
  int32_t leaf = 0;  ///< its number within the instruction
};

std::vector<Lifetime> merged(std::vector<Lifetime> all) {
  std::sort(all.begin(), all.end(), [](const Lifetime& a, const Lifetime& b) { return a.born < b.born; });
  std::vector<Lifetime> out;
  for (const Lifetime& life : all) {
    if (!out.empty() && life.born <= out.back().dies) {
      out.back().dies = std::max(out.back().dies, life.dies);
    } else {
      out.push_back(life);
    }
  }
  return out;
}

class Assign {
 public:
  Assign(const Module& module, const Leaves& leaves, const Timeline& timeline, const Values& values,
         const Liveness& liveness, const VirtualFlags& is_virtual, const AssignmentOptions& options)
      : module_(module),
        leaves_(leaves),
        timeline_(timeline),
        values_(values),
        live_(liveness),
        virtual_(is_virtual),
        options_(options),
        up_(values.of_leaf.size()) {
    std::iota(up_.begin(), up_.end(), 0);
    seen_.assign(2 * static_cast<size_t>(module.id_limit()), 0);
  }

  Assignment run() {
    place_leaves();
    if (options_.trust_ties) {
      for (const auto& [a, b] : values_.tied) up_[find(a)] = find(b);
    }
    collect_groups();
    if (!options_.trust_ties) join_where_free();
    allocate();
    if (options_.trust_ties) reuse_operands();
    return std::move(out_);
  }

 private:
  int32_t find(int32_t v) {
    while (up_[v] != v) {
      up_[v] = up_[up_[v]];
      v = up_[v];
    }
    return v;
  }

  void place_leaves() {
    place_.resize(values_.of_leaf.size());
    for (size_t s = 0; s < timeline_.steps.size(); ++s) {
      const Instruction& i = *timeline_.steps[s].instruction;
      const Frame& frame = timeline_.frames[timeline_.frame_of[s]];
      const int32_t first = frame.first_leaf + leaves_.first(i);
      for (int32_t l = 0; l < leaves_.count(i); ++l) place_[first + l] = {&i, &frame, l};
    }
  }

  bool is_value(int32_t leaf) const {
    const Place& place = place_[leaf];
    return values_.of_leaf[leaf] == leaf && place.instruction;
  }

  Lifetime lifetime(int32_t v) const { return {live_.first[v], static_cast<Step>(live_.last[v] + 1)}; }

  void collect_groups() {
    group_of_.assign(values_.of_leaf.size(), -1);
    std::vector<int32_t> by_first;
    for (int32_t v = 0; v < static_cast<int32_t>(values_.of_leaf.size()); ++v) {
      if (is_value(v)) by_first.push_back(v);
    }
    std::stable_sort(by_first.begin(), by_first.end(),
                     [&](int32_t a, int32_t b) { return live_.first[a] < live_.first[b]; });
    for (const int32_t v : by_first) {
      const Place& place = place_[v];
      const LeafBytes size = options_.sizes->of(*place.instruction, place.leaf);
      if (size.bytes == 0) continue;
      int32_t& number = group_of_[find(v)];
      if (number < 0) {
        number = static_cast<int32_t>(out_.groups.size());
        out_.groups.emplace_back();
        out_.groups.back().size = size;
      }
      group_of_[v] = number;
      ValueGroup& group = out_.groups[number];
      group.values.push_back(v);
      if (size.bytes > group.size.bytes) group.size = size;
      group.alive.push_back(lifetime(v));
      group.result = group.result || live_.is_result[v];
      if (place.instruction->opcode == Opcode::kConstant) group.constant = true;
      if (place.instruction->opcode == Opcode::kParameter && !place.frame->caller) group.argument = v;
    }
    for (ValueGroup& group : out_.groups) group.alive = merged(std::move(group.alive));
  }

  int32_t group_of(int32_t leaf) {
    const int32_t value = values_.of_leaf[leaf];
    const int32_t number = group_of_[value];
    return number;
  }

  /// May value `v`, which begins at this step, reuse the bytes of a value of group `before` that dies there?
  bool may_follow(const ValueGroup& before, int32_t v, Step step) const {
    const Place& place = place_[v];
    const auto number = static_cast<int32_t>(&before - out_.groups.data());
    const auto dies_here = [&](int32_t value) { return live_.last[value] == step && group_of_[value] == number; };
    for (auto [at, end] = values_.continues.equal_range(v); at != end; ++at) {
      if (dies_here(at->second)) return !is_copied_into_loop(place);
    }
    bool possible = false;
    const bool walked = visit_reads(place, [&](int32_t value, const InPlacePair& pair, bool elementwise) {
      if (!dies_here(value)) return true;
      const bool direct = pair.operand >= 0;
      const bool in_place = direct ? may_overwrite(*place.instruction, pair, options_.backend) : elementwise;
      if (!in_place || (direct && pair.operand == 0 && is_copied(*place.instruction, 0))) {
        // XLA requires one operand that allows it; a kernel that reads a value twice must allow it each time.
        if (!options_.trust_ties) return false;
        return true;
      }
      possible = true;
      return true;
    });
    return walked && possible;
  }

  /// Is what enters the loop's state here copied?
  bool is_copied_into_loop(const Place& place) const {
    if (place.instruction->opcode != Opcode::kParameter || place.frame->caller->opcode != Opcode::kWhile) return false;
    const Instruction& loop = *place.frame->caller;
    const bool flat = leaves_.count(loop) == static_cast<int32_t>(loop.shape.elements.size());
    return flat && is_copied(loop, static_cast<size_t>(place.leaf));
  }

  /// Does XLA copy this operand before it is updated, since another reader isn't ordered before the update?
  bool is_copied(const Instruction& i, size_t operand) const {
    if (options_.trust_ties) return false;
    const auto [known, fresh] = copied_.try_emplace(&i);
    if (fresh) known->second = copied_operands(i);
    return known->second.contains(operand);
  }

  std::set<size_t> copied_operands(const Instruction& i) const {
    std::set<size_t> copied;
    const InPlaceUpdate update = update_at(i);
    if (update.operands.empty()) return copied;
    const auto [uses, fresh] = uses_.try_emplace(i.parent);
    if (fresh) uses->second = std::make_unique<Uses>(*i.parent);
    std::optional<OrderedBefore> before;
    for (const size_t k : update.operands) {
      const Instruction& array = update.by->operand(k);
      if (uses->second->of(array).size() < 2) continue;
      if (!before) before.emplace(update);
      if (!before->late_readers(array, *uses->second).empty()) copied.insert(k);
    }
    return copied;
  }

  /// Calls f(value, pair, elementwise) for each value that an instruction reads: operands directly (pair.operand >= 0),
  /// and operands of virtual values; `elementwise`: only elementwise operations of its own extents are between. Of an
  /// elementwise operand that is stored, too: XLA computes it again in this kernel, or both in one. f returns whether
  /// to continue.
  template <class F>
  bool visit_reads(const Place& place, F&& f) const {
    const Instruction& i = *place.instruction;
    const bool kernel = memory_class(i.opcode) == MemoryClass::kElementwise;
    struct Pending {
      const Instruction* at;
      bool elementwise, merged;
    };
    std::vector<Pending> pending;
    const auto merge = [&](const Instruction& operand, bool elementwise) {
      if (elementwise && memory_class(operand.opcode) == MemoryClass::kElementwise)
        pending.push_back({&operand, true, true});
    };
    for (size_t o = 0; o < i.operands.size(); ++o) {
      const Instruction& operand = *i.operands[o];
      const bool on = kernel && operand.shape.dims == i.shape.dims;
      if (!virtual_.empty() && virtual_[operand.id]) {
        pending.push_back({&operand, on, false});
        continue;
      }
      if (!virtual_.empty()) merge(operand, on);
      const int32_t first = place.frame->first_leaf + leaves_.first(operand);
      for (int32_t l = 0; l < leaves_.count(operand); ++l) {
        const InPlacePair pair{static_cast<int32_t>(o), l, place.leaf};
        if (!f(values_.of_leaf[first + l], pair, false)) return false;
      }
    }
    ++walk_;
    while (!pending.empty()) {
      const auto [at, elementwise, merged] = pending.back();
      pending.pop_back();
      // A virtual value may be reached along several paths; one elementwise path and one other are enough.
      int32_t& seen = seen_[2 * static_cast<size_t>(at->id) + (elementwise ? 1 : 0)];
      if (seen == walk_) continue;
      seen = walk_;
      const bool same = elementwise && memory_class(at->opcode) == MemoryClass::kElementwise;
      for (const Instruction* operand : at->operands) {
        const bool on = same && operand->shape.dims == at->shape.dims;
        if (virtual_[operand->id]) {
          pending.push_back({operand, on, merged});
          continue;
        }
        if (!merged) merge(*operand, on);
        const int32_t first = place.frame->first_leaf + leaves_.first(*operand);
        for (int32_t l = 0; l < leaves_.count(*operand); ++l) {
          if (!f(values_.of_leaf[first + l], InPlacePair{-1, l, place.leaf}, on)) return false;
        }
      }
    }
    return true;
  }

  /// Do their lifetimes overlap other than in steps at which one is read for the last time and the other is written?
  bool clash(const ValueGroup& a, const ValueGroup& b) const {
    for (size_t i = 0, j = 0; i < a.alive.size() && j < b.alive.size();) {
      const Lifetime &x = a.alive[i], &y = b.alive[j];
      if (x.overlaps(y) && !hands_over(a, x, b, y) && !hands_over(b, y, a, x)) return true;
      (x.dies < y.dies ? i : j)++;
    }
    return false;
  }

  /// Does a lifetime of `before` end where one of `after` begins, with a value that may reuse its bytes?
  bool hands_over(const ValueGroup& before, const Lifetime& x, const ValueGroup& after, const Lifetime& y) const {
    const Step step = y.born;
    if (x.dies != step + 1 || x.born > step) return false;
    const auto begins = [&](int32_t v) { return live_.first[v]; };
    const auto v = std::ranges::lower_bound(after.values, step, {}, begins);
    return v != after.values.end() && begins(*v) == step && may_follow(before, *v, step);
  }

  void join(int32_t into, int32_t from) {
    ValueGroup& a = out_.groups[into];
    ValueGroup& b = out_.groups[from];
    for (const int32_t v : b.values) group_of_[v] = into;
    const auto first = [&](int32_t v) { return live_.first[v]; };
    const auto middle = static_cast<std::ptrdiff_t>(a.values.size());
    const bool in_order = first(a.values.back()) <= first(b.values.front());  // chains usually grow at their end
    a.values.insert(a.values.end(), b.values.begin(), b.values.end());
    if (!in_order) {
      std::inplace_merge(a.values.begin(), a.values.begin() + middle, a.values.end(),
                         [&](int32_t x, int32_t y) { return first(x) < first(y); });
    }
    if (a.alive.back().born <= b.alive.front().born && b.alive.size() == 1) {
      Lifetime& last = a.alive.back();
      if (b.alive[0].born <= last.dies) {
        last.dies = std::max(last.dies, b.alive[0].dies);
      } else {
        a.alive.push_back(b.alive[0]);
      }
    } else {
      a.alive.insert(a.alive.end(), b.alive.begin(), b.alive.end());
      a.alive = merged(std::move(a.alive));
    }
    if (b.size.bytes > a.size.bytes) a.size = b.size;
    a.result = a.result || b.result;
    a.constant = a.constant || b.constant;
    if (b.argument >= 0) a.argument = b.argument;
    b = {};
  }

  /// For programs without XLA's copies: ties and dying operands share a buffer only if their lifetimes allow it.
  void join_where_free() {
    const auto try_join = [&](int32_t x, int32_t y) {
      if (x < 0 || y < 0 || x == y) return;
      const ValueGroup& a = out_.groups[x];
      const ValueGroup& b = out_.groups[y];
      if (a.size.bytes != b.size.bytes || a.size.memory_space != b.size.memory_space) return;
      if (a.constant || b.constant || (a.argument >= 0 && b.argument >= 0) || (a.result && b.result)) return;
      if (!clash(a, b)) join(std::min(x, y), std::max(x, y));
    };
    for (const auto& [a, b] : values_.tied) try_join(group_of(a), group_of(b));
    for (size_t s = 0; s < timeline_.steps.size(); ++s) {
      const Instruction& i = *timeline_.steps[s].instruction;
      const Frame& frame = timeline_.frames[timeline_.frame_of[s]];
      for (int32_t l = 0; l < leaves_.count(i); ++l) {
        const int32_t leaf = frame.first_leaf + leaves_.first(i) + l;
        if (!is_value(leaf)) continue;
        dying_.clear();
        visit_reads({&i, &frame, l}, [&](int32_t value, const InPlacePair&, bool) {
          if (live_.last[value] == static_cast<Step>(s)) dying_.push_back(value);
          return dying_.size() < 64;
        });
        for (const int32_t value : dying_) {
          const int32_t x = group_of(value), y = group_of(leaf);
          if (x >= 0 && out_.groups[x].argument < 0) try_join(x, y);
        }
      }
    }
    // A result that can't be written in the argument that it is declared to alias is copied there at the end.
    std::vector<bool> copied(values_.of_leaf.size(), false);
    for (const Donation::Pair& pair : options_.donation->pairs) {
      const int32_t leaf = leaves_.first(*module_.entry->root) + pair.result;
      copied[values_.of_leaf[leaf]] = true;
    }
    for (ValueGroup& group : out_.groups) {
      if (!group.result || group.argument >= 0) continue;
      group.result = std::any_of(group.values.begin(), group.values.end(),
                                 [&](int32_t v) { return live_.is_result[v] && !copied[v]; });
    }
    std::vector<ValueGroup> kept;
    for (ValueGroup& group : out_.groups) {
      if (!group.values.empty()) kept.push_back(std::move(group));
    }
    out_.groups = std::move(kept);
    for (size_t g = 0; g < out_.groups.size(); ++g) {
      for (const int32_t v : out_.groups[g].values) group_of_[v] = static_cast<int32_t>(g);
    }
  }

  /// Arguments, results and constants get separate allocations; other values that are no larger, with lifetimes that
  /// fit, are placed in these, the largest first.
  void allocate() {
    std::vector<int32_t> order(out_.groups.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      const ValueGroup& x = out_.groups[a];
      const ValueGroup& y = out_.groups[b];
      return x.size.bytes != y.size.bytes ? x.size.bytes > y.size.bytes : x.result > y.result;
    });
    for (const int32_t g : order) {
      ValueGroup& group = out_.groups[g];
      const bool on_its_own = group.constant || group.argument >= 0;
      if (!on_its_own && move_in(g)) continue;
      if (!on_its_own && !group.result) {
        out_.in_arena.push_back(g);
        continue;
      }
      const bool reusable = !group.constant && (group.argument < 0 || options_.donation->donated[group.argument]);
      if (reusable) {
        open_.push_back(static_cast<int32_t>(out_.own.size()));
        Occupancy& occupancy = occupancy_[out_.own.size()];
        for (const Lifetime& life : group.alive) occupancy.emplace(life.born, std::pair(life.dies, g));
      }
      out_.own.push_back({{g}});
    }
    std::sort(out_.in_arena.begin(), out_.in_arena.end());
  }

  /// The lifetimes in an allocation by birth, with their groups; neighbours overlap in at most one step.
  using Occupancy = std::multimap<Step, std::pair<Step, int32_t>>;

  bool busy(const Occupancy& occupancy, const ValueGroup& group) const {
    for (const Lifetime& life : group.alive) {
      for (auto at = occupancy.lower_bound(life.dies); at != occupancy.begin();) {
        --at;
        if (at->second.first <= life.born) break;
        if (clash(out_.groups[at->second.second], group)) return true;
      }
    }
    return false;
  }

  bool move_in(int32_t g) {
    const ValueGroup& group = out_.groups[g];
    for (auto it = open_.rbegin(); it != open_.rend(); ++it) {
      Allocation& allocation = out_.own[*it];
      const ValueGroup& host = out_.groups[allocation.groups[0]];
      if (host.size.memory_space != group.size.memory_space || host.size.bytes < group.size.bytes) continue;
      if (group.result && host.size.bytes != group.size.bytes) continue;
      Occupancy& occupancy = occupancy_[*it];
      if (busy(occupancy, group)) continue;
      allocation.groups.push_back(g);
      for (const Lifetime& life : group.alive) occupancy.emplace(life.born, std::pair(life.dies, g));
      return true;
    }
    return false;
  }

  /// In the arena a value takes over the bytes of a direct operand that it reads last, if neither shares its buffer
  /// with other values (XLA's heap simulator considers only buffers with a single value).
  void reuse_operands() {
    std::vector<bool> in_arena(out_.groups.size(), false), single(out_.groups.size(), false);
    for (const int32_t g : out_.in_arena) {
      in_arena[g] = true;
      single[g] = out_.groups[g].values.size() == 1;
    }
    std::vector<bool> gone(out_.groups.size(), false);
    std::vector<bool>& taken = out_.handed_on;
    taken.assign(values_.of_leaf.size(), false);
    for (const int32_t number : out_.in_arena) {  // groups are numbered by first step
      if (!single[number]) continue;
      const int32_t v = out_.groups[number].values.front();
      const Place& place = place_[v];
      const Step step = live_.first[v];
      bool done = false;
      for (size_t o = 0; o < place.instruction->operands.size() && !done; ++o) {
        const Instruction& operand = *place.instruction->operands[o];
        const int32_t first = place.frame->first_leaf + leaves_.first(operand);
        for (int32_t l = 0; l < leaves_.count(operand) && !done; ++l) {
          const int32_t w = first + l;
          if (values_.of_leaf[w] != w || taken[w]) continue;
          if (live_.last[w] != step) continue;
          const int32_t host = group_of_[w];
          if (host < 0 || host == number || !in_arena[host]) continue;
          if (!single[host]) continue;
          const ValueGroup& h = out_.groups[host];
          const ValueGroup& mine = out_.groups[number];
          if (h.size.memory_space != mine.size.memory_space || h.size.bytes != mine.size.bytes) continue;
          if (!may_overwrite(*place.instruction, {static_cast<int32_t>(o), l, place.leaf}, options_.backend)) continue;
          taken[w] = true;
          join(host, number);
          gone[number] = true;
          done = true;
        }
      }
    }
    std::erase_if(out_.in_arena, [&](int32_t g) { return gone[g]; });
  }

  const Module& module_;
  const Leaves& leaves_;
  const Timeline& timeline_;
  const Values& values_;
  const Liveness& live_;
  const VirtualFlags& virtual_;
  const AssignmentOptions& options_;
  std::vector<int32_t> up_, group_of_, dying_;
  mutable std::vector<int32_t>
      seen_;  ///< by instruction id and whether elementwise so far: the last walk that visited it
  mutable int32_t walk_ = 0;
  mutable std::unordered_map<const Instruction*, std::set<size_t>> copied_;  ///< operands of updates
  mutable std::unordered_map<const Computation*, std::unique_ptr<Uses>> uses_;
  std::vector<Place> place_;
  std::vector<int32_t> open_;                        ///< allocations in which other values may be placed
  std::unordered_map<size_t, Occupancy> occupancy_;  ///< of the allocations
  Assignment out_;
};

}  // namespace

Assignment assign_buffers(const Module& module, const Leaves& leaves, const Timeline& timeline, const Values& values,
                          const Liveness& liveness, const VirtualFlags& is_virtual, const AssignmentOptions& options) {
  return Assign(module, leaves, timeline, values, liveness, is_virtual, options).run();
}

}  // namespace lowtide::engine
