#include "passes/rules/derive_saved_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/evaluations.h"
#include "analysis/leaf_bytes.h"
#include "passes/rules/recipe.h"
#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {
namespace {

constexpr double kSmallestDerived = 1 << 14;  ///< bytes of a stack from which on this pays
constexpr double kSavedPart = 0.125;          ///< of its bytes: values that may be saved in its place
constexpr int64_t kOfOperands = 8;            ///< least ratio of a recomputed product's elements to its operands'

double bytes_of(const Instruction& i) { return static_cast<double>(safe_logical_bytes(i.shape)); }

class Derive {
 public:
  Derive(Instruction& loop, const Uses& uses, const Callers& callers, const Cost& cost, double most_time)
      : callers_(callers), saved_(loop, uses, callers), carry_(saved_.carry()), cost_(cost), most_time_(most_time) {}

  int64_t run(std::vector<DerivedStack>* done) {
    std::vector<SavedStack*> order;
    for (SavedStack& s : saved_.all()) order.push_back(&s);
    std::ranges::stable_sort(order, std::greater(), [](const SavedStack* s) { return bytes_of(*s->result); });
    int64_t count = 0;
    for (SavedStack* s : order) {
      if (s->is_used || !s->may_go || s->reads.empty() || bytes_of(*s->result) < kSmallestDerived) continue;
      trail_ = {};
      unsaved_.clear();
      self_ = s;
      if (!may_be_repeated(*s->value)) continue;
      if (!expand(*s->value) || !pays(*s)) continue;
      if (done != nullptr) {
        done->push_back({full_name(saved_.loop()), s->value->name, names_of(recipe_.inputs), names_of(recipe_.ops),
                         names_of(unsaved_)});
      }
      derive(*s);
      ++count;
    }
    return count;
  }

  /// Derives as in another module. False: something is missing here.
  bool run_alike(const DerivedStack& done) {
    for (SavedStack& s : saved_.all()) {
      if (s.value->name != done.value || s.is_gone || !s.may_go || s.reads.empty()) continue;
      self_ = &s;
      trail_ = {};
      const bool is_there =
          find_all(done.inputs, recipe_.inputs) && find_all(done.ops, recipe_.ops) && find_all(done.saved, unsaved_);
      if (is_there) derive(s);
      return is_there;
    }
    return false;
  }

 private:
  static std::vector<std::string> names_of(const std::vector<Instruction*>& all) {
    std::vector<std::string> names;
    for (const Instruction* i : all) names.push_back(i->name);
    return names;
  }

  bool find_all(const std::vector<std::string>& names, std::vector<Instruction*>& found) const {
    found.clear();
    const auto& body = carry_.body().instructions();
    for (const std::string& name : names) {
      const auto i = std::ranges::find_if(body, [&](const auto& candidate) { return candidate->name == name; });
      if (i == body.end()) return false;
      found.push_back(i->get());
    }
    return true;
  }

  void derive(SavedStack& stack) {
    for (Instruction* value : unsaved_) saved_.save(*value);
    for (const StackRead& read : stack.reads) repeat(stack, read);
    stack.is_gone = true;
    for (const Instruction* input : recipe_.inputs) {
      if (SavedStack* other = stack_of(*input)) other->is_used = true;
    }
  }

  SavedStack* stack_of(const Instruction& value) {
    for (SavedStack& s : saved_.all()) {
      if (&s != self_ && !s.is_gone && s.value == &value) return &s;
    }
    return nullptr;
  }

  /// A sum, maximum, ... of no more elements than a slice has.
  bool is_small_sum(const Instruction& i) const {
    return i.opcode == Opcode::kReduce && i.operands.size() == 2 && i.shape.is_array() &&
           element_count(i.operand(0).shape) <= element_count(self_->value->shape);
  }

  /// Is the product much larger than its operands, as scores are? Then these may be saved instead of it.
  static bool is_of_small_operands(const Instruction& dot) {
    if (dot.opcode != Opcode::kDot || dot.operands.size() != 2) return false;
    const int64_t both = element_count(dot.operand(0).shape) + element_count(dot.operand(1).shape);
    return both * kOfOperands <= element_count(dot.shape);
  }

  bool may_be_repeated(const Instruction& i) const { return is_light(i) || is_small_sum(i) || is_of_small_operands(i); }

  bool find(Instruction& i) {
    if (!trail_.look_at(i)) return true;
    const RecipeTrail::Place before = trail_.place();
    const size_t unsaved_before = unsaved_.size();
    if (make(i)) return true;
    // A value that can't be computed from saved ones may be saved.
    trail_.return_to(before);
    unsaved_.resize(unsaved_before);
    if (!i.shape.is_array() || i.opcode == Opcode::kParameter) return false;
    double bytes = bytes_of(i);
    for (const Instruction* other : unsaved_) bytes += bytes_of(*other);
    if (bytes > kSavedPart * self_->slice_bytes()) return false;
    unsaved_.push_back(&i);
    recipe_.inputs.push_back(&i);
    return true;
  }

  bool make(Instruction& i) {
    if (is_source(i)) {
      recipe_.ops.push_back(&i);
      return true;
    }
    if (recipe_.ops.size() > kMostRecipeOps || !i.shape.is_array()) return false;
    const int64_t invariant = saved_.carry().invariant_of(i);
    if (invariant >= 0 || saved_.reads_element(i, saved_.counter()) || stack_of(i)) {
      recipe_.inputs.push_back(&i);
      if (invariant >= 0)
        recipe_.bytes += kept_longer(carry_.initial(static_cast<size_t>(invariant)), *self_->reads.back().loop);
      return true;
    }
    return may_be_repeated(i) && expand(i);
  }

  bool expand(Instruction& i) {
    for (Instruction* operand : i.operands) {
      if (!find(*operand)) return false;
    }
    recipe_.ops.push_back(&i);
    recipe_.ns += cost_.element_ns(i) * elements_of(i.shape);
    return true;
  }

  bool pays(const SavedStack& stack) const {
    if (recipe_.bytes * 4 > bytes_of(*stack.result)) return false;
    const double read_ns = stack.slice_bytes() * cost_.byte_ns();
    return std::ranges::all_of(stack.reads, [&](const StackRead& read) {
      return recipe_.ns <= read_ns || recipe_.ns <= most_time_ * time_of(*read.loop->called[1], cost_);
    });
  }

  /// Recomputes the slice where it was read.
  void repeat(const SavedStack& stack, const StackRead& read) {
    LoopCarry carry(*read.loop, callers_);
    Computation& body = carry.body();
    InstructionMap now;
    std::vector<std::pair<const Instruction*, Instruction*>> stacks;
    for (Instruction* input : recipe_.inputs) {
      const int64_t invariant = saved_.carry().invariant_of(*input);
      if (invariant >= 0) {
        now[input] = carry.invariant(carry_.initial(static_cast<size_t>(invariant)));
      } else if (const SavedStack* other = stack_of(*input)) {
        stacks.emplace_back(input, carry.invariant(*other->result));
      }
    }
    carry.put_reads_first();
    std::vector<Instruction*> before;
    for (const auto& i : body.instructions()) before.push_back(i.get());
    Maker maker(body);
    Instruction* place = stack.place_of(read);
    for (const auto& [input, all] : stacks) now[input] = stack_of(*input)->slice_at(all, place, input->shape, maker);
    for (Instruction* input : recipe_.inputs) {
      if (!now.contains(input)) now[input] = saved_.trip_at(place, input->shape.type, maker);
    }
    for (Instruction* op : recipe_.ops) {
      now[op] = maker.copy(*op, now);
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

  const Callers& callers_;
  SavedStacks saved_;
  LoopCarry& carry_;
  const Cost& cost_;
  const double most_time_;
  // Of the current stack:
  const SavedStack* self_ = nullptr;
  RecipeTrail trail_;
  Recipe& recipe_ = trail_.recipe;
  std::vector<Instruction*> unsaved_;  ///< inputs that must be saved for it
};

PassResult derived(int64_t count) {
  return {.changed = count > 0, .count = count, .note = fmt::format("{} stacks derived from others", count)};
}

}  // namespace

Result<PassResult> derive_saved_stacks(Module& module, const Target& target) {
  return derive_saved_stacks_for(module, target, kMostDeriveTime);
}

Result<PassResult> derive_saved_stacks_for(Module& module, const Target& target, double most_time,
                                           std::vector<DerivedStack>* done) {
  int64_t count = 0;
  const Callers callers = count_callers(module);
  for (Instruction* loop : free_loops(module)) {
    const Uses uses(module);
    count += Derive(*loop, uses, callers, target.cost(), most_time).run(done);
  }
  return derived(count);
}

Result<PassResult> derive_saved_stacks_alike(Module& module, const Target& target,
                                             const std::vector<DerivedStack>& done) {
  int64_t count = 0;
  const Callers callers = count_callers(module);
  for (const DerivedStack& stack : done) {
    for (Instruction* loop : free_loops(module)) {
      if (full_name(*loop) != stack.loop) continue;
      const Uses uses(module);
      count += Derive(*loop, uses, callers, target.cost(), kMostDeriveTime).run_alike(stack) ? 1 : 0;
    }
  }
  return derived(count);
}

}  // namespace lowtide::engine
