#include "passes/in_place/write_over_consumed_stacks.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/trip_count.h"
#include "analysis/uses.h"
#include "ir/element_read.h"
#include "passes/in_place/slices.h"
#include "passes/rewrite.h"
#include "passes/rules/loop_carry.h"

namespace lowtide::engine {
namespace {

/// A loop whose iterations visit the slices of stacks.
class ConsumingLoop {
 public:
  ConsumingLoop(const Instruction& loop, const Uses& uses) : loop_(loop), uses_(uses) {
    const auto trips = trip_count(loop);
    const Computation &test = *loop.called[0], &body = *loop.called[1];
    const auto parameters = body.parameters(), tested = test.parameters();
    if (!trips || trips->carry < 0 || parameters.size() != 1 || tested.size() != 1) return;
    if (loop.operand(0).opcode != Opcode::kTuple || body.root->opcode != Opcode::kTuple) return;
    thickness_ = std::abs(trips->step);
    trips_ = trips->trips;
    if (trips_ <= 0 || trips->start != (trips->step > 0 ? 0 : (trips_ - 1) * thickness_)) return;
    carry_ = trips->carry;
    reads_.resize(loop.shape.elements.size());
    is_tested_.resize(reads_.size(), false);
    ok_ = gather(*parameters[0], [&](int64_t k, Instruction* read) { reads_[k].push_back(read); }) &&
          gather(*tested[0], [&](int64_t k, Instruction*) { is_tested_[k] = true; });
  }

  bool ok() const { return ok_; }
  size_t size() const { return reads_.size(); }
  const std::vector<Instruction*>& reads(size_t k) const { return reads_[k]; }
  const Instruction& next(size_t k) const { return loop_.called[1]->root->operand(k); }
  const Shape& shape(size_t k) const { return loop_.shape.elements[k]; }

  /// The dimension along which element k is only written, slice i by iteration i, all of them; -1: there is none.
  int64_t written_along(size_t k) const {
    const Instruction& update = next(k);
    if (is_tested_[k] || update.opcode != Opcode::kDynamicUpdateSlice || uses_.of(update).size() != 1) return -1;
    const bool only_updated = std::ranges::all_of(reads_[k], [&](const Instruction* read) {
      return std::ranges::all_of(uses_.of(*read),
                                 [&](const Instruction* u) { return u == &update && u->operands[1] != read; });
    });
    return only_updated ? sliced_along(update.operand(1).shape, shape(k), update, 2) : -1;
  }

  /// Is element k only read, along dimension d, slice i in iteration i, and not after the loop?
  bool is_consumed_along(size_t k, int64_t d) const {
    const Instruction& same = next(k);
    if (is_tested_[k] || std::ranges::find(reads_[k], &same) == reads_[k].end()) return false;
    for (const Instruction* read : reads_[k]) {
      for (const Instruction* u : uses_.of(*read)) {
        if (u == loop_.called[1]->root) continue;
        if (u->opcode != Opcode::kDynamicSlice || sliced_along(u->shape, shape(k), *u, 1) != d) return false;
      }
    }
    const auto& next = loop_.called[1]->root->operands;
    if (std::ranges::count_if(
            next, [&](const Instruction* n) { return std::ranges::find(reads_[k], n) != reads_[k].end(); }) != 1) {
      return false;
    }
    return std::ranges::none_of(uses_.of(loop_), [&](const Instruction* u) {
      return u->opcode != Opcode::kGetTupleElement || u->as<TupleIndexAttributes>().index == static_cast<int64_t>(k);
    });
  }

 private:
  template <class F>
  bool gather(const Instruction& parameter, F&& found) {
    for (const Instruction* u : uses_.of(parameter)) {
      if (u->opcode != Opcode::kGetTupleElement) return false;
      found(u->as<TupleIndexAttributes>().index, const_cast<Instruction*>(u));
    }
    return true;
  }

  /// The dimension along which the iterations' slices make up the stack; -1: they don't.
  int64_t sliced_along(const Shape& slice, const Shape& stack, const Instruction& user, size_t first_start) const {
    const auto& counters = reads_[carry_];
    int64_t along = -1;
    for (size_t d = 0; d < stack.dims.size(); ++d) {
      const Instruction* start = user.operands[first_start + d];
      if (slice.dims[d] == stack.dims[d] && is_zero(*start)) continue;
      if (along >= 0 || std::ranges::find(counters, start) == counters.end()) return -1;
      if (slice.dims[d] != thickness_ || stack.dims[d] != thickness_ * trips_) return -1;
      along = static_cast<int64_t>(d);
    }
    return along;
  }

  const Instruction& loop_;
  const Uses& uses_;
  int64_t trips_ = 0, thickness_ = 0, carry_ = 0;
  bool ok_ = false;
  std::vector<std::vector<Instruction*>> reads_;  ///< by element: get-tuple-elements of the body's parameter
  std::vector<bool> is_tested_;                   ///< by element: does the condition read it?
};

/// Is the written slice computed from this stack's slice only by updating it?
bool continues(const Instruction* written, const std::vector<Instruction*>& stack) {
  for (;;) {
    if (written->opcode == Opcode::kReshape || written->opcode == Opcode::kDynamicUpdateSlice ||
        written->opcode == Opcode::kScatter || written->opcode == Opcode::kDynamicSlice) {
      written = written->operands[0];
      if (std::ranges::find(stack, written) != stack.end()) return true;
      continue;
    }
    return false;
  }
}

bool may_be_overwritten(const Instruction& value, const Module& module) {
  if (value.opcode == Opcode::kConstant) return false;
  if (value.opcode != Opcode::kParameter || value.parent != module.entry) return value.opcode != Opcode::kParameter;
  const int64_t number = value.as<ParameterAttributes>().number;
  return std::ranges::any_of(module.input_output_alias, [&](const AliasEntry& a) { return a.operand == number; }) ||
         std::ranges::any_of(module.buffer_donors, [&](const Module::Donor& d) { return d.parameter == number; });
}

bool same_element(const Instruction& a, const Instruction& b) {
  return a.as<TupleIndexAttributes>().index == b.as<TupleIndexAttributes>().index;
}

/// All instructions that take the same element out of a tuple; or else the value alone.
std::vector<const Instruction*> names_of(const Instruction& value, const Uses& uses) {
  std::vector<const Instruction*> names;
  if (value.opcode != Opcode::kGetTupleElement) return {&value};
  for (const Instruction* user : uses.of(value.operand(0))) {
    if (user->opcode == Opcode::kGetTupleElement && same_element(*user, value)) names.push_back(user);
  }
  return names;
}

/// Instructions that a tuple, with which a loop starts, is computed from. They are found when first asked for.
class Before {
 public:
  Before(const Instruction& tuple, const Uses& uses) : tuple_(tuple), uses_(uses) {}

  /// Is the value read by nothing but the tuple, or what it is computed from? Then no reader comes after the loop.
  bool is_read_there(const Instruction& value) {
    std::vector<const Instruction*> readers;
    for (const Instruction* same : names_of(value, uses_)) {
      readers.insert(readers.end(), uses_.of(*same).begin(), uses_.of(*same).end());
    }
    if (readers.size() == 1) return true;
    if (found_.empty()) find();
    return std::ranges::all_of(readers, [&](const Instruction* reader) { return found_.contains(reader); });
  }
  /// The tuple has other operands now.
  void forget() { found_.clear(); }

 private:
  void find() {
    found_.insert(&tuple_);
    std::vector<const Instruction*> open{&tuple_};
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      for (const Instruction* operand : i->operands) {
        if (found_.insert(operand).second) open.push_back(operand);
      }
    }
  }

  const Instruction& tuple_;
  const Uses& uses_;
  std::unordered_set<const Instruction*> found_;
};

int64_t rewrite_loop(Instruction& loop, const Module& module, const Uses& uses) {
  const ConsumingLoop view(loop, uses);
  if (!view.ok() || uses.of(loop.operand(0)).size() != 1) return 0;
  Instruction& start = *loop.operands[0];
  Before before(start, uses);
  std::vector<bool> taken(view.size(), false);
  int64_t count = 0;
  const auto pair = [&](size_t to, size_t from) {
    start.operands[to] = start.operands[from];
    before.forget();
    Instruction* stack = view.reads(to)[0];
    for (const Instruction* read : view.reads(from)) {
      for (const Instruction* u : uses.of(*read)) {
        if (u->opcode == Opcode::kDynamicSlice) const_cast<Instruction*>(u)->operands[0] = stack;
      }
    }
    taken[to] = taken[from] = true;
    ++count;
  };
  for (const bool sure : {true, false}) {
    for (size_t to = 0; to < view.size(); ++to) {
      if (taken[to] || view.reads(to).empty()) continue;
      const int64_t along = view.written_along(to);
      if (along < 0) continue;
      for (size_t from = 0; from < view.size(); ++from) {
        const bool fits =
            !taken[from] && from != to && same_shape(view.shape(from), view.shape(to)) &&
            is_in_host(view.shape(from)) == is_in_host(view.shape(to)) && view.is_consumed_along(from, along) &&
            std::ranges::count(start.operands, start.operands[from]) == 1 &&
            may_be_overwritten(*start.operands[from], module) && before.is_read_there(*start.operands[from]);
        if (!fits || (sure && !continues(view.next(to).operands[1], view.reads(from)))) continue;
        pair(to, from);
        break;
      }
    }
  }
  return count;
}

/// Puts reads of the loop-carried value first: they may come after their new users.
void put_reads_first(Computation& body) {
  std::vector<Instruction*> order;
  for (const bool first : {true, false}) {
    for (const auto& i : body.instructions()) {
      if (is_given_to_computation(*i) == first) order.push_back(i.get());
    }
  }
  std::ranges::stable_partition(order, [](const Instruction* i) { return i->opcode == Opcode::kParameter; });
  body.reorder(order);
}

}  // namespace

Result<PassResult> write_over_consumed_stacks(Module& module) {
  if (!has_any(module, {Opcode::kWhile})) return PassResult{};
  int64_t count = 0;
  const Uses uses(module);
  const auto callers = count_callers(module);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      // A shared body would change for all of its loops, and only one of them gets the new initial value.
      if (i->opcode != Opcode::kWhile || callers.at(i->called[1]) > 1) continue;
      const int64_t stacks = rewrite_loop(*i, module, uses);
      if (stacks > 0) put_reads_first(*i->called[1]);
      count += stacks;
    }
  }
  return rewritten(count, "stacks written over");
}

}  // namespace lowtide::engine
