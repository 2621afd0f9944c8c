#include "passes/recompute/save_every.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "analysis/trip_count.h"
#include "ir/element_read.h"
#include "ir/side_effects.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/recompute/loop_groups.h"
#include "passes/recompute/split_trips.h"
#include "passes/rules/trip_places.h"

namespace lowtide::engine {
namespace {

constexpr double kLeastStackBytes = 1 << 16;              ///< bytes of stacks from which on this pays
constexpr int64_t kLargest = 1000;                        ///< iterations of a group
constexpr double kClearlyLess = 0.9;                      ///< of the bytes: what one more grouping has to leave
constexpr size_t kMostNested = 3;                         ///< groupings, each of the groups of another
constexpr double kParts[] = {0.25, 0.5, 0.65, 0.8, 0.9};  ///< of the iterations: what is offered

/// Sizes of a loop that is rerun, and of what it saves.
struct RerunSizes {
  int64_t trips = 0;
  double slices = 0, state = 0;  ///< bytes that an iteration saves; bytes with which it begins

  double stack_bytes() const { return slices * static_cast<double>(trips); }
  /// Those of the loops over groups, which save what a group begins with.
  RerunSizes of_groups(const Grouping& g) const { return {.trips = g.of / g.k, .slices = state, .state = state}; }
  /// The bytes that remain of an applied grouping.
  double bytes_with(const Grouping& g) const { return bytes_in_trips(g) + of_groups(g).stack_bytes(); }
  /// The bytes that remain with several groupings, each of the groups that the one before made.
  double bytes_with(std::span<const Grouping> levels) const {
    if (levels.empty()) return stack_bytes();
    const auto g = applied(levels.front());
    return g ? bytes_in_trips(*g) + of_groups(*g).bytes_with(levels.subspan(1)) : bytes_with(levels.subspan(1));
  }
  /// The grouping for these loops; none if it isn't possible or saves nothing.
  std::optional<Grouping> applied(Grouping g) const {
    if (g.k < 2) return {};
    const int64_t most = g.of > 0 ? std::min(g.of, trips) : trips;
    g.of = most / g.k * g.k;
    if (g.of <= g.k || bytes_with(g) >= stack_bytes()) return {};
    return g;
  }

 private:
  /// What is saved of a group's iterations, and of those that are in no group.
  double bytes_in_trips(const Grouping& g) const { return slices * static_cast<double>(g.k + trips - g.of); }
};

/// Sizes of all the loops of a module that can be grouped.
class AllSizes {
 public:
  explicit AllSizes(std::vector<RerunSizes> loops) : loops_(std::move(loops)) {
    for (const RerunSizes& loop : loops_) most_trips_ = std::max(most_trips_, loop.trips);
  }
  int64_t most_trips() const { return most_trips_; }
  double bytes_with(std::span<const Grouping> levels) const {
    double bytes = 0;
    for (const RerunSizes& loop : loops_) bytes += loop.bytes_with(levels);
    return bytes;
  }
  double saved(const Grouping& g) const { return bytes_with({}) - bytes_with({&g, 1}); }
  /// The grouping of all iterations that saves most.
  Grouping best() const {
    Grouping best{2, 0};
    for (int64_t k = 3; k <= std::min(most_trips_ / 2, kLargest); ++k) {
      if (saved({k, 0}) > saved(best)) best.k = k;
    }
    return best;
  }

 private:
  std::vector<RerunSizes> loops_;
  int64_t most_trips_ = 0;
};

/// A loop that fills stacks, and the only later loop that reads them, slice by slice.
class Rerun {
 public:
  Rerun(Instruction& loop, Instruction& reader, Instruction& place, const Uses& uses, const Callers& callers)
      : loop_(loop), reader_(reader), place_(place), uses_(uses), callers_(callers), saved_(loop, uses, callers) {
    for (SavedStack& s : saved_.all()) {
      const bool here = std::ranges::all_of(
          s.reads, [&](const StackRead& r) { return r.loop == &reader_ && s.place_of(r) == &place_; });
      if (!s.reads.empty() && s.may_go && here) stacks_.push_back(&s);
    }
    is_possible_ = find_all();
  }

  bool is_possible() const { return is_possible_; }
  int64_t trips() const { return saved_.trips(); }
  RerunSizes sizes() const {
    RerunSizes sizes{.trips = trips()};
    for (const SavedStack* s : stacks_) sizes.slices += s->slice_bytes();
    for (const size_t e : state_)
      sizes.state += static_cast<double>(safe_logical_bytes(saved_.carry().initial(e).shape));
    return sizes;
  }

  /// Splits both loops into one of the first iterations and one of the others.
  SplitPairs split(int64_t first) const {
    return split_trips({.pair = {&loop_, &reader_, &place_},
                        .saved = &saved_,
                        .stacks = {stacks_.begin(), stacks_.end()},
                        .reader_counter = reader_counter_,
                        .direction = direction_},
                       first);
  }

  void apply(int64_t k) {
    Module& module = loop_.parent->module();
    Computation* rerun = make_body(k);
    group_trips(loop_, saved_.counter(), trips(), k);
    std::vector<Instruction*> checkpoints;
    for (const size_t e : state_) checkpoints.push_back(save_group(e, trips() / k));
    read(module, *rerun, k, checkpoints);
  }

 private:
  bool find_all() {
    const auto counted = trip_count(reader_);
    const LoopCarry reading(reader_, callers_);
    if (stacks_.empty() || !reading.ok() || !counted || counted->carry < 0) return false;
    if (counted->start != 0 || counted->step != 1 || counted->trips != trips()) return false;
    reader_counter_ = static_cast<size_t>(counted->carry);
    if (is_read_behind(loop_, saved_.counter()) || is_read_behind(reader_, reader_counter_)) return false;
    const auto place = in_each_trip(place_, reader_, trips());
    if (!place) return false;
    if (place->start == 0 && place->step == 1) {
      direction_ = Direction::kForwards;
    } else if (place->start == trips() - 1 && place->step == -1) {
      direction_ = Direction::kBackwards;
    } else {
      return false;
    }
    return find_needed();
  }

  bool is_read_behind(const Instruction& loop, size_t element) const {
    return std::ranges::any_of(uses_.of(loop), [&](const Instruction* user) {
      const bool same = user->as<TupleIndexAttributes>().index == static_cast<int64_t>(element);
      return same && (!uses_.of(*user).empty() || user == user->parent->root);
    });
  }

  int64_t element_of(const Instruction& i) const {
    for (size_t e = 0; e < saved_.carry().size(); ++e) {
      if (saved_.reads_element(i, e)) return static_cast<int64_t>(e);
    }
    return -1;
  }

  /// Finds the instructions that compute an iteration's next state and the slices of the stacks.
  bool find_needed() {
    const LoopCarry& carry = saved_.carry();
    std::vector<const Instruction*> open;
    for (const SavedStack* s : stacks_) open.push_back(s->value);
    std::unordered_set<size_t> state;
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      if (!needed_.insert(i).second) continue;
      if (has_side_effect(*i) || !i->control_predecessors.empty()) return false;
      const int64_t e = element_of(*i);
      if (e < 0) {
        if (i->opcode == Opcode::kParameter) return false;
        open.insert(open.end(), i->operands.begin(), i->operands.end());
        continue;
      }
      const auto k = static_cast<size_t>(e);
      if (k == saved_.counter()) continue;
      if (carry.is_invariant(k)) {
        given_.insert(k);
      } else if (!carry.initial(k).shape.is_array()) {
        return false;
      } else if (state.insert(k).second) {
        open.push_back(carry.body().root->operands[k]);
      }
    }
    state_.assign(state.begin(), state.end());
    std::ranges::sort(state_);
    return !state_.empty();
  }

  /// The body of the loop that reruns a group's iterations: (iteration of the group, iterations before the group,
  /// state, loop invariants, stacks of the group).
  Computation* make_body(int64_t k) {
    Module& module = loop_.parent->module();
    const LoopCarry& carry = saved_.carry();
    const Shape count = Shape::scalar(carry.initial(saved_.counter()).shape.type);
    rerun_state_ = Shape::tuple({count, count});
    for (const size_t e : state_) {
      const Shape& whole = carry.initial(e).shape;
      rerun_state_.elements.push_back(Shape::array(whole.type, whole.dims));
    }
    for (const size_t e : given_) rerun_state_.elements.push_back(carry.initial(e).shape);
    for (const SavedStack* s : stacks_) rerun_state_.elements.push_back(small_shape(*s, k));

    Computation* made = module.add_computation(module.unused_computation_name(carry.body().name + ".again"));
    Maker maker(*made);
    Instruction* parameter = maker.make(Opcode::kParameter, rerun_state_, {}, ParameterAttributes{0});
    std::vector<Instruction*> reads;
    for (size_t e = 0; e < rerun_state_.elements.size(); ++e) reads.push_back(maker.element(*parameter, e));
    std::unordered_map<size_t, Instruction*> read_of;
    size_t next_read = 2;
    for (const size_t e : state_) read_of[e] = reads[next_read++];
    for (const size_t e : given_) read_of[e] = reads[next_read++];
    read_of[saved_.counter()] = maker.binary(Opcode::kAdd, reads[1], reads[0]);

    for (const auto& i : carry.body().instructions()) {
      if (!needed_.contains(i.get())) continue;
      if (const int64_t e = element_of(*i); e >= 0) {
        again_[i.get()] = read_of.at(static_cast<size_t>(e));
        continue;
      }
      again_[i.get()] = maker.copy(*i, again_);
    }
    std::vector<Instruction*> next = reads;
    next[0] = maker.binary(Opcode::kAdd, reads[0], maker.constant(count.type, 1));
    for (size_t s = 0; s < state_.size(); ++s) next[2 + s] = again_.at(carry.body().root->operands[state_[s]]);
    for (size_t s = 0; s < stacks_.size(); ++s) {
      Instruction*& stack = next[next.size() - stacks_.size() + s];
      stack = put_slice(*stacks_[s], stack, again_.at(stacks_[s]->value), reads[0], maker);
    }
    made->root = maker.make(Opcode::kTuple, rerun_state_, next);
    return made;
  }

  /// Writes a slice into the group's stack.
  static Instruction* put_slice(const SavedStack& saved, Instruction* stack, Instruction* value, Instruction* place,
                                Maker& maker) {
    const Shape& slot = saved.update->operand(1).shape;
    std::vector<Instruction*> operands{stack, maker.reshape(value, slot.dims)};
    for (size_t d = 0; d < slot.dims.size(); ++d)
      operands.push_back(d == saved.dimension ? place : maker.constant(place->shape.type, 0));
    return maker.make(Opcode::kDynamicUpdateSlice, stack->shape, operands);
  }

  /// Computes, after the loop that runs all iterations of a group but the last, the part of the last one on which its
  /// slices depend. Returns the stacks.
  std::vector<Instruction*> last_trip(Instruction& again, const std::vector<Instruction*>& start, int64_t k,
                                      Maker& maker) const {
    const Computation& body = *again.called[1];
    std::unordered_set<const Instruction*> needed;
    std::vector<const Instruction*> open;
    for (const SavedStack* s : stacks_) open.push_back(again_.at(s->value));
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      if (needed.insert(i).second && element_read(*i) < 0)
        open.insert(open.end(), i->operands.begin(), i->operands.end());
    }
    Instruction* last = maker.constant(rerun_state_.elements[0].type, k - 1);
    const size_t end_of_state = 2 + state_.size(), end_of_given = end_of_state + given_.size();
    InstructionMap now;
    for (const auto& i : body.instructions()) {
      if (!needed.contains(i.get())) continue;
      if (element_read(*i) >= 0) {
        const auto e = static_cast<size_t>(element_read(*i));
        now[i.get()] = e == 0 ? last : e == 1 || e >= end_of_state ? start[e] : maker.element(again, e);
        continue;
      }
      now[i.get()] = maker.copy(*i, now);
    }
    std::vector<Instruction*> stacks;
    for (size_t s = 0; s < stacks_.size(); ++s)
      stacks.push_back(put_slice(*stacks_[s], maker.element(again, end_of_given + s),
                                 now.at(again_.at(stacks_[s]->value)), last, maker));
    return stacks;
  }

  static Shape small_shape(const SavedStack& s, int64_t k) {
    Dims dims = s.update->operand(1).shape.dims;
    dims[s.dimension] = k;
    return Shape::array(s.update->shape.type, dims);
  }

  /// Stacks the values with which the groups begin; returns the full stack, after the loop over groups.
  Instruction* save_group(size_t e, int64_t groups) {
    const Callers callers = count_callers(loop_.parent->module());
    LoopCarry carry(loop_, callers);
    const Shape& value = carry.initial(e).shape;
    Dims all{groups}, part{1};
    for (Dims* dims : {&all, &part}) dims->insert(dims->end(), value.dims.begin(), value.dims.end());
    Computation& parent = *loop_.parent;
    const std::vector<Instruction*> outer = instructions_of(parent);
    Maker outside(parent);
    Instruction* zeros = outside.filled(value.type, all, 0);
    const size_t element = carry.size();
    Instruction* stack = carry.add(*zeros);
    const size_t before = outside.order().size();
    Instruction* result = outside.element(loop_, element);
    put_made(parent, outer, loop_.operands[0], outside.order(), before, &loop_);

    carry.put_reads_first();
    const std::vector<Instruction*> inner = instructions_of(carry.body());
    Maker inside(carry.body());
    Instruction* group = carry.reads(saved_.counter())[0];
    std::vector<Instruction*> operands{stack, inside.reshape(carry.reads(e)[0], part), group};
    for (size_t d = 1; d < all.size(); ++d) operands.push_back(inside.constant(group->shape.type, 0));
    Instruction* update = inside.make(Opcode::kDynamicUpdateSlice, zeros->shape, operands);
    put_made(carry.body(), inner, behind_reads(inner), inside.order(), inside.order().size(), nullptr);
    carry.set_next(element, *update);
    return result;
  }

  static const Instruction* behind_reads(const std::vector<Instruction*>& order) {
    return *std::ranges::find_if_not(order, [](const Instruction* i) { return is_given_to_computation(*i); });
  }

  /// Changes the later loop: each of its groups first reruns the iterations that it reads.
  void read(Module& module, Computation& rerun, int64_t k, const std::vector<Instruction*>& checkpoints) {
    const LoopGroups groups = group_trips(reader_, reader_counter_, trips(), k);
    const Callers callers = count_callers(module);
    LoopCarry carry(reader_, callers);
    std::vector<Instruction*> kept, given;
    for (Instruction* c : checkpoints) kept.push_back(carry.invariant(*c));
    for (const size_t e : given_) given.push_back(carry.invariant(saved_.carry().initial(e)));
    carry.put_reads_first();
    const std::vector<Instruction*> before = instructions_of(carry.body());
    Maker maker(carry.body());
    const ElementType type = groups.group->shape.type;
    Instruction* number = groups.group;
    if (direction_ == Direction::kBackwards)
      number = maker.binary(Opcode::kSubtract, maker.constant(type, trips() / k - 1), groups.group);
    Instruction* first = maker.binary(Opcode::kMultiply, number, maker.constant(type, k));
    const ElementType count = rerun_state_.elements[0].type;
    std::vector<Instruction*> start{maker.constant(count, 0), maker.convert(first, count)};
    for (Instruction* stack : kept) {
      Dims part = stack->shape.dims;
      part[0] = 1;
      std::vector<Instruction*> operands{stack, number};
      for (size_t d = 1; d < part.size(); ++d) operands.push_back(maker.constant(type, 0));
      Instruction* slice = maker.make(Opcode::kDynamicSlice, Shape::array(stack->shape.type, part), operands,
                                      DynamicSliceAttributes{part});
      start.push_back(maker.reshape(slice, Dims(part.begin() + 1, part.end())));
    }
    start.insert(start.end(), given.begin(), given.end());
    for (const SavedStack* s : stacks_)
      start.push_back(maker.filled(s->update->shape.type, small_shape(*s, k).dims, 0));
    Instruction* bundle = maker.make(Opcode::kTuple, rerun_state_, start);
    Instruction* again = maker.make(Opcode::kWhile, rerun_state_, {bundle});
    again->called = {count_to(module, rerun_state_, 0, k - 1), &rerun};
    const std::vector<Instruction*> small = last_trip(*again, start, k, maker);
    put_made(carry.body(), before, behind_reads(before), maker.order(), maker.order().size(), nullptr);

    LoopCarry inner(*groups.inner, count_callers(module));
    std::vector<Instruction*> read;
    for (Instruction* stack : small) read.push_back(inner.invariant(*stack));
    Instruction* begins = inner.invariant(*first);
    inner.put_reads_first();
    // The rerun iterations have been put before the inner loop, which reads them.
    Computation& body = inner.body();
    const std::vector<Instruction*> old = instructions_of(body);
    Maker inside(body);
    Instruction* place = &place_;
    const std::vector<Instruction*>& counts = inner.reads(reader_counter_);
    if (std::ranges::find(counts, place) == counts.end()) {  // the counter is relative to the group already
      place = inside.binary(Opcode::kSubtract, &place_, inside.convert(begins, place_.shape.type));
      put_made(body, old, nullptr, inside.order(), 0, &place_);
    }
    for (size_t s = 0; s < stacks_.size(); ++s) {
      for (const StackRead& r : stacks_[s]->reads) {
        r.slice->operands[0] = read[s];
        r.slice->operands[1 + stacks_[s]->dimension] = place;
      }
    }
    put_operands_first(carry.body());  // initial values of the inner loop were created after it
  }

  Instruction& loop_;
  Instruction& reader_;
  Instruction& place_;
  const Uses& uses_;
  const Callers& callers_;
  SavedStacks saved_;
  bool is_possible_ = false;
  size_t reader_counter_ = 0;
  Direction direction_ = Direction::kForwards;
  std::vector<SavedStack*> stacks_;
  std::unordered_set<const Instruction*> needed_;  ///< instructions of the first loop's body
  std::vector<size_t> state_;                      ///< elements of the carry that change
  std::set<size_t> given_;                         ///< loop-invariant elements of the carry
  Shape rerun_state_;
  InstructionMap again_;  ///< needed instructions -> their copies in the rerun's body
};

/// Calls take(rerun) for each pair of loops; if it returns true, the module has changed, and the search starts again.
template <class Take>
void for_each_rerun(Module& module, const Take& take) {
  for (bool changed = true; changed;) {
    changed = false;
    const Callers callers = count_callers(module);
    const Uses uses(module);
    for (Instruction* loop : free_loops(module)) {
      for (const auto& [reader, place] : SavedStacks(*loop, uses, callers).readers()) {
        Rerun rerun(*loop, *reader, *place, uses, callers);
        if (rerun.is_possible() && rerun.sizes().stack_bytes() >= kLeastStackBytes) changed = take(rerun, *loop);
        if (changed) break;
      }
      if (changed) break;
    }
  }
}

AllSizes sizes_of(const Module& module) {
  std::vector<RerunSizes> loops;
  for_each_rerun(const_cast<Module&>(module), [&](const Rerun& rerun, const Instruction&) {
    loops.push_back(rerun.sizes());
    return false;
  });
  return AllSizes(std::move(loops));
}

Status group_first_trips(Module& module, const LoopPair& pair, int64_t k) {
  LT_RETURN_IF_ERROR(remove_dead_code(module).status());
  const Callers callers = count_callers(module);
  const Uses uses(module);
  Rerun(*pair.loop, *pair.reader, *pair.place, uses, callers).apply(k);
  return {};
}

}  // namespace

Result<PassResult> save_every(Module& module, const Grouping& grouping) {
  int64_t count = 0;
  Status status;
  std::set<const Instruction*> done;  ///< loops over groups, and over iterations in no group
  for_each_rerun(module, [&](Rerun& rerun, const Instruction& loop) {
    const auto applied = rerun.sizes().applied(grouping);
    if (!status.ok() || !applied || done.contains(&loop)) return false;
    ++count;
    if (applied->of == rerun.trips()) {
      rerun.apply(applied->k);
      done.insert(&loop);
    } else {
      const SplitPairs parts = rerun.split(applied->of);
      done.insert({parts.first.loop, parts.rest.loop});
      status = group_first_trips(module, parts.first, applied->k);
    }
    return true;
  });
  LT_RETURN_IF_ERROR(status);
  return rewritten(count, fmt::format("loops save every {} trips", grouping.k));
}

std::vector<Grouping> groupings(const Module& module) {
  const AllSizes sizes = sizes_of(module);
  std::vector<Grouping> all;
  const auto offer = [&](const Grouping& g) {
    if (sizes.saved(g) > 0 && std::ranges::find(all, g) == all.end()) all.push_back(g);
  };
  // For a part of the iterations, which takes part of the time: as many groups as a group has iterations.
  for (const double part : kParts) {
    const double of = part * static_cast<double>(sizes.most_trips());
    const auto k = std::max<int64_t>(2, static_cast<int64_t>(std::sqrt(of)));
    offer({k, static_cast<int64_t>(of) / k * k});
  }
  // For all iterations: the groups that save most, and smaller ones, which take less time.
  const Grouping best = sizes.best();
  for (const int64_t k : {int64_t{2}, best.k / 2, best.k}) offer({k, 0});
  std::ranges::stable_sort(all, {}, [&](const Grouping& g) { return sizes.saved(g); });
  return all;
}

std::vector<std::vector<Grouping>> nested_groupings(const Module& module) {
  const AllSizes sizes = sizes_of(module);
  const auto trips = static_cast<double>(sizes.most_trips());
  std::vector<std::vector<Grouping>> all;
  const Grouping single = sizes.best();
  double least = sizes.bytes_with({&single, 1});
  for (size_t count = 2; count <= kMostNested; ++count) {
    std::vector<Grouping> best;
    double of_best = kClearlyLess * least;
    for (int64_t k = 2; k <= std::min(sizes.most_trips() / 4, kLargest); ++k) {
      // Groups of all levels save what they begin with, and nothing else: equally many of each.
      const double groups = std::pow(trips / static_cast<double>(k), 1 / static_cast<double>(count));
      std::vector<Grouping> levels(count, {std::max<int64_t>(2, std::lround(groups)), 0});
      levels.front() = {k, 0};
      if (const double bytes = sizes.bytes_with(levels); bytes < of_best) {
        of_best = bytes;
        best = std::move(levels);
      }
    }
    if (best.empty()) break;
    all.push_back(std::move(best));
    least = of_best;
  }
  return all;
}

}  // namespace lowtide::engine
