#include "passes/rules/derive_saved_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "analysis/trip_count.h"
#include "analysis/uses.h"
#include "passes/in_place/slices.h"
#include "passes/rules/loop_carry.h"
#include "passes/rules/maker.h"
#include "passes/rules/recipe.h"
#include "region/cost.h"
#include "region/evaluations.h"

namespace lowtide {
namespace {

constexpr double kSmallestDerived = 1 << 14;  ///< bytes of a stack that is worth it

using Callers = std::unordered_map<const Computation*, int>;

double bytes_of(const Instruction& i) { return static_cast<double>(safe_logical_bytes(i.shape)); }

/// One slice of a stack, read by a later loop.
struct Read {
  Instruction* loop = nullptr;
  Instruction* slice = nullptr;  ///< the dynamic-slice in the loop's body
};

/// An element of a loop's carry that trip i fills at place i.
struct Stack {
  size_t element = 0;
  size_t dimension = 0;           ///< along which slices are stacked
  Instruction* update = nullptr;  ///< in the body
  Instruction* value = nullptr;   ///< what a slice is, before reshapes
  Instruction* result = nullptr;  ///< the full stack, behind the loop
  std::vector<Read> reads;
  bool only_sliced = true;                ///< nobody reads it otherwise
  bool is_used = false, is_gone = false;  ///< by another one's recipe; derived
};

/// A loop that fills stacks, one slice in each trip, from the first to the last.
class Filler {
 public:
  Filler(Instruction& loop, const Uses& uses, const Callers& callers)
      : loop_(loop), uses_(uses), callers_(callers), carry_(loop, callers) {
    const auto trips = trip_count(loop);
    if (!carry_.ok() || !trips || trips->carry < 0 || trips->start != 0 || trips->step != 1 || trips->trips < 1) return;
    trips_ = trips->trips;
    counter_ = static_cast<size_t>(trips->carry);
    for (size_t k = 0; k < carry_.size(); ++k) add_stack(k);
  }

  int64_t derive() {
    std::vector<Stack*> order;
    for (Stack& s : stacks_) order.push_back(&s);
    std::ranges::stable_sort(order, std::greater(), [](const Stack* s) { return bytes_of(*s->result); });
    int64_t count = 0;
    for (Stack* s : order) {
      if (s->is_used || !s->only_sliced || s->reads.empty() || bytes_of(*s->result) < kSmallestDerived) continue;
      recipe_ = {};
      seen_.clear();
      self_ = s;
      if (!is_light(*s->value) && !is_small_sum(*s->value)) continue;
      if (!expand(*s->value) || !pays(*s)) continue;
      for (const Read& read : s->reads) repeat(*s, read);
      s->is_gone = true;
      for (const Instruction* input : recipe_.inputs) {
        if (Stack* other = stack_of(*input)) other->is_used = true;
      }
      ++count;
    }
    return count;
  }

 private:
  bool reads_element(const Instruction& i, size_t k) const {
    return std::ranges::find(carry_.reads(k), &i) != carry_.reads(k).end();
  }

  void add_stack(size_t k) {
    Instruction* update = carry_.body().root->operands[k];
    if (update->opcode != Opcode::kDynamicUpdateSlice || !reads_element(update->operand(0), k)) return;
    if (uses_.of(*update).size() != 1 || uses_.of(update->operand(0)).size() != 1 || carry_.reads(k).size() != 1)
      return;
    const Dims &all = update->shape.dims, &part = update->operand(1).shape.dims;
    int64_t along = -1;
    for (size_t d = 0; d < all.size(); ++d) {
      const Instruction& start = update->operand(2 + d);
      if (part[d] == all[d] && is_zero(start)) continue;
      if (along >= 0 || part[d] != 1 || all[d] != trips_ || !reads_element(start, counter_)) return;
      along = static_cast<int64_t>(d);
    }
    if (along < 0) return;
    Stack stack;
    stack.element = k;
    stack.dimension = static_cast<size_t>(along);
    stack.update = update;
    stack.value = behind_reshapes(update->operands[1]);
    for (const Instruction* user : uses_.of(loop_)) {
      if (user->as<TupleIndexAttributes>().index == static_cast<int64_t>(k)) add_reads(*user, stack);
    }
    if (stack.result) stacks_.push_back(stack);
  }

  void add_reads(const Instruction& result, Stack& stack) const {
    if (stack.result) stack.only_sliced = false;  // taken out of the bundle twice
    stack.result = const_cast<Instruction*>(&result);
    if (&result == result.parent->root) stack.only_sliced = false;
    for (const Instruction* user : uses_.of(result)) {
      if (!add_reads_of_loop(result, *user, stack)) stack.only_sliced = false;
    }
  }

  /// `start` is what a later loop begins with.
  bool add_reads_of_loop(const Instruction& result, const Instruction& start, Stack& stack) const {
    if (start.opcode != Opcode::kTuple || uses_.of(start).size() != 1 || &start == start.parent->root) return false;
    Instruction& loop = const_cast<Instruction&>(*uses_.of(start)[0]);
    if (loop.opcode != Opcode::kWhile) return false;
    const LoopCarry carry(loop, callers_);
    if (!carry.ok()) return false;
    for (size_t k = 0; k < carry.size(); ++k) {
      if (&carry.initial(k) != &result) continue;
      if (!carry.is_invariant(k)) return false;
      for (const Instruction* behind : uses_.of(loop)) {
        const bool same = behind->as<TupleIndexAttributes>().index == static_cast<int64_t>(k);
        if (same && (!uses_.of(*behind).empty() || behind == behind->parent->root)) return false;
      }
      for (Instruction* read : carry.reads(k)) {
        for (const Instruction* user : uses_.of(*read)) {
          if (user == carry.body().root) continue;
          if (user->opcode != Opcode::kDynamicSlice || user->shape.dims != stack.update->operand(1).shape.dims) {
            return false;
          }
          stack.reads.push_back({&loop, const_cast<Instruction*>(user)});
        }
      }
      const auto handed_on = std::ranges::count_if(carry.body().root->operands, [&](const Instruction* next) {
        return std::ranges::find(carry.reads(k), next) != carry.reads(k).end();
      });
      if (handed_on != 1) return false;
    }
    return true;
  }

  Stack* stack_of(const Instruction& value) {
    for (Stack& s : stacks_) {
      if (&s != self_ && !s.is_gone && s.value == &value) return &s;
    }
    return nullptr;
  }

  int64_t invariant_of(const Instruction& i) const {
    for (size_t k = 0; k < carry_.size(); ++k) {
      if (carry_.is_invariant(k) && reads_element(i, k)) return static_cast<int64_t>(k);
    }
    return -1;
  }

  /// A sum, maximum, ... of no more elements than a slice has.
  bool is_small_sum(const Instruction& i) const {
    return i.opcode == Opcode::kReduce && i.operands.size() == 2 && i.shape.is_array() &&
           element_count(i.operand(0).shape) <= element_count(self_->value->shape);
  }

  bool find(Instruction& i) {
    if (!seen_.insert(&i).second) return true;
    if (is_source(i)) {
      recipe_.ops.push_back(&i);
      return true;
    }
    if (recipe_.ops.size() > kMostRecipeOps || !i.shape.is_array()) return false;
    const int64_t invariant = invariant_of(i);
    if (invariant >= 0 || reads_element(i, counter_) || stack_of(i)) {
      recipe_.inputs.push_back(&i);
      if (invariant >= 0) recipe_.bytes += kept_anyway(carry_.initial(static_cast<size_t>(invariant)));
      return true;
    }
    return (is_light(i) || is_small_sum(i)) && expand(i);
  }

  bool expand(Instruction& i) {
    for (Instruction* operand : i.operands) {
      if (!find(*operand)) return false;
    }
    recipe_.ops.push_back(&i);
    recipe_.ns += element_ns(i) * elements_of(i.shape);
    return true;
  }

  /// Bytes that live longer if a later loop reads this: none where it, or what comes after it, does so already.
  double kept_anyway(const Instruction& initial) const {
    if (is_kept(initial) || initial.opcode == Opcode::kConstant) return 0;
    const Instruction* last = self_->reads.back().loop;
    bool behind = false;
    for (const auto& i : initial.parent->instructions()) {
      if (behind || i.get() == last->operands[0]) {
        behind = true;
        if (std::ranges::find(i->operands, &initial) != i->operands.end()) return 0;
      }
    }
    return bytes_of(initial);
  }

  bool pays(const Stack& stack) const {
    if (recipe_.bytes * 4 > bytes_of(*stack.result)) return false;
    const double read_ns = bytes_of(*stack.update->operands[1]) * kNsPerByte;
    return std::ranges::all_of(stack.reads, [&](const Read& read) {
      return recipe_.ns <= read_ns || recipe_.ns <= kMostDeriveTime * time_of(*read.loop->called[1]);
    });
  }

  /// Makes the slice where it was read.
  void repeat(const Stack& stack, const Read& read) {
    LoopCarry carry(*read.loop, callers_);
    Computation& body = carry.body();
    std::map<const Instruction*, Instruction*> now;
    std::vector<std::pair<const Instruction*, Instruction*>> stacks;
    for (Instruction* input : recipe_.inputs) {
      const int64_t invariant = invariant_of(*input);
      if (invariant >= 0) {
        now[input] = carry.invariant(carry_.initial(static_cast<size_t>(invariant)));
      } else if (const Stack* other = stack_of(*input)) {
        stacks.emplace_back(input, carry.invariant(*other->result));
      }
    }
    carry.put_reads_first();
    std::vector<Instruction*> before;
    for (const auto& i : body.instructions()) before.push_back(i.get());
    Maker maker(body);
    Instruction* place = read.slice->operands[1 + stack.dimension];
    for (const auto& [input, all] : stacks) now[input] = slice_of(*stack_of(*input), all, place, input->shape, maker);
    for (Instruction* input : recipe_.inputs) {
      if (!now.contains(input)) now[input] = trip(place, input->shape.type, maker);
    }
    for (Instruction* op : recipe_.ops) {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : op->operands) operands.push_back(now.at(operand));
      Instruction* made = maker.like(*op, op->shape, operands);
      made->called = op->called;
      now[op] = made;
    }
    Instruction* made = maker.reshape(now.at(stack.value), read.slice->shape.dims);

    for (Instruction* i : before) {
      for (Instruction*& operand : i->operands) operand = operand == read.slice ? made : operand;
    }
    std::vector<Instruction*> order;
    for (Instruction* i : before) {
      if (i == read.slice) order.insert(order.end(), maker.order().begin(), maker.order().end());
      order.push_back(i);
    }
    body.reorder(order);
  }

  /// The slice of another stack at the same place.
  static Instruction* slice_of(const Stack& other, Instruction* all, Instruction* place, const Shape& shape,
                               Maker& maker) {
    const Dims& dims = other.update->operand(1).shape.dims;
    std::vector<Instruction*> operands{all};
    for (size_t d = 0; d < dims.size(); ++d) {
      operands.push_back(d == other.dimension ? place : maker.constant(place->shape.type, 0));
    }
    Instruction* slice =
        maker.make(Opcode::kDynamicSlice, Shape::array(shape.type, dims), operands, DynamicSliceAttributes{dims});
    return maker.reshape(slice, shape.dims);
  }

  /// The trip that filled this place; slices clamp what lies outside.
  Instruction* trip(Instruction* place, ElementType type, Maker& maker) const {
    Instruction* last = maker.constant(place->shape.type, trips_ - 1);
    Instruction* first = maker.constant(place->shape.type, 0);
    Instruction* low = maker.binary(Opcode::kMaximum, place, first);
    return maker.convert(maker.binary(Opcode::kMinimum, low, last), type);
  }

  Instruction& loop_;
  const Uses& uses_;
  const Callers& callers_;
  LoopCarry carry_;
  int64_t trips_ = 0;
  size_t counter_ = 0;
  std::vector<Stack> stacks_;
  // Of the stack being looked at.
  const Stack* self_ = nullptr;
  Recipe recipe_;
  std::unordered_set<const Instruction*> seen_;
};

}  // namespace

Result<PassResult> derive_saved_stacks(Module& module) {
  PassResult result;
  const Callers callers = count_callers(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  std::vector<Instruction*> loops;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kWhile && !ordered[static_cast<size_t>(i->id)]) loops.push_back(i.get());
    }
  }
  for (Instruction* loop : loops) {
    const Uses uses(module);
    result.count += Filler(*loop, uses, callers).derive();
  }
  result.changed = result.count > 0;
  result.note = fmt::format("{} stacks derived from others", result.count);
  return result;
}

}  // namespace lowtide
