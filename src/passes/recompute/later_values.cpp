#include "passes/recompute/later_values.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "ir/element_read.h"
#include "passes/rules/recipe.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostConstantBytes = 1 << 12;

/// The value before barriers, which only separate what is before and after them.
Instruction* behind_barriers(Instruction* i) {
  while (Instruction* value = before_barrier(*i)) i = value;
  return i;
}

bool is_movable(const Instruction& i) {
  const bool sum =
      i.opcode == Opcode::kReduce && i.operands.size() == 2 && i.shape.is_array() && i.control_predecessors.empty();
  return is_source(i) || is_light(i) || sum ||
         (i.opcode == Opcode::kConstant && i.shape.is_array() && safe_logical_bytes(i.shape) <= kMostConstantBytes);
}

}  // namespace

LaterValues::LaterValues(SavedStacks& saved, Instruction& reader, Instruction& place, const Uses& uses,
                         const Callers& callers)
    : saved_(saved), place_(place), carry_(reader, callers, &uses) {
  find_slices();
  find_given();
  for (const auto& i : carry_.body().instructions()) visit(*i);
}

void LaterValues::find_slices() {
  for (const SavedStack& s : saved_.all()) {
    for (const StackRead& read : s.reads) {
      if (read.loop != &carry_.loop() || s.place_of(read) != &place_) continue;
      stacks_[read.slice] = &s;
      add(*read.slice, &s, {});
    }
  }
}

/// Finds values that are invariant in both loops and exist when the first one begins.
void LaterValues::find_given() {
  const LoopCarry& filler = saved_.carry();
  const auto is_known = [&](const Instruction& initial) {
    if (is_given(initial) || initial.opcode == Opcode::kConstant) return true;
    for (size_t e = 0; e < filler.size(); ++e) {
      if (&filler.initial(e) == &initial && filler.is_invariant(e)) return true;
    }
    return false;
  };
  std::unordered_set<const Instruction*> initials;
  for (size_t k = 0; k < carry_.size(); ++k) {
    if (carry_.is_invariant(k) && is_known(carry_.initial(k))) initials.insert(&carry_.initial(k));
  }
  if (initials.empty()) return;
  std::unordered_set<const Instruction*> early;
  for (const auto& i : filler.loop().parent->instructions()) {
    if (i.get() == filler.loop().operands[0]) break;
    if (initials.contains(i.get())) early.insert(i.get());
  }
  for (size_t k = 0; k < carry_.size(); ++k) {
    Instruction& initial = carry_.initial(k);
    if (!carry_.is_invariant(k) || !early.contains(&initial)) continue;
    for (Instruction* read : carry_.reads(k)) {
      given_[read] = &initial;
      free_[read] = true;
    }
  }
}

void LaterValues::add(Instruction& made, const SavedStack* stack, std::vector<size_t> operands) {
  number_[&made] = values_.size();
  values_.push_back({.made = &made, .stack = stack, .operands = std::move(operands)});
}

void LaterValues::need(const Instruction& operand) {
  const auto known = number_.find(&operand);
  if (known != number_.end()) values_[known->second].is_needed = true;
}

void LaterValues::visit(Instruction& i) {
  if (stacks_.contains(&i) || given_.contains(&i) || behind_barriers(&i) != &i) return;
  const bool hands_on = i.opcode == Opcode::kTuple && &i != i.parent->root;
  if (hands_on || i.opcode == Opcode::kOptBarrier) return visit_bundle(i);
  bool available = is_movable(i) && values_.size() < kMostRecipeOps;
  std::vector<size_t> operands;
  for (Instruction* operand : i.operands) {
    const Instruction* value = behind_barriers(operand);
    const auto known = number_.find(value);
    if (known != number_.end()) operands.push_back(known->second);
    available = available && (known != number_.end() || free_[value]);
  }
  if (!available) {
    for (Instruction* operand : i.operands) need(*behind_barriers(operand));
  } else if (operands.empty()) {
    free_[&i] = true;
  } else {
    add(i, nullptr, std::move(operands));
  }
}

/// Elements of a tuple are visited where they are read from a barrier; other tuples need them.
void LaterValues::visit_bundle(const Instruction& i) {
  if (i.opcode == Opcode::kOptBarrier && i.operand(0).opcode == Opcode::kTuple) return;
  const auto& all = i.parent->instructions();
  const bool into_barrier = std::ranges::all_of(all, [&](const auto& user) {
    return user->opcode == Opcode::kOptBarrier || std::ranges::find(user->operands, &i) == user->operands.end();
  });
  if (into_barrier) return;
  for (Instruction* operand : i.operands) need(*behind_barriers(operand));
}

/// Carries the values from which it is computed into the first loop.
void LaterValues::bring(const Instruction& i) {
  if (now_.contains(&i) || stacks_.contains(&i)) return;
  if (const auto given = given_.find(&i); given != given_.end()) {
    now_[&i] = saved_.carry().invariant(*given->second);
    return;
  }
  for (Instruction* operand : i.operands) bring(*behind_barriers(operand));
}

/// Computes the value in the first loop.
Instruction* LaterValues::make(const Instruction& i, Maker& maker) {
  const auto [known, is_new] = now_.try_emplace(&i, nullptr);
  if (!is_new) return known->second;
  Instruction* made = nullptr;
  if (const auto stack = stacks_.find(&i); stack != stacks_.end()) {
    made = maker.reshape(stack->second->value, i.shape.dims);
  } else {
    std::vector<Instruction*> operands;
    for (Instruction* operand : i.operands) operands.push_back(make(*behind_barriers(operand), maker));
    made = maker.copy(i, std::move(operands));
  }
  return now_[&i] = made;
}

void LaterValues::save(const Value& value) {
  bring(*value.made);
  Maker inside(saved_.carry().body());
  const SavedStack& saved = saved_.save(*make(*value.made, inside));

  Instruction* read = carry_.invariant(*saved.result);
  carry_.put_reads_first();
  const std::vector<Instruction*> inner = instructions_of(carry_.body());
  Maker later(carry_.body());
  Instruction* slice = saved.slice_at(read, &place_, value.made->shape, later);
  for (Instruction* i : inner) {
    for (Instruction*& operand : i->operands) {
      if (behind_barriers(operand) == value.made) operand = slice;
    }
  }
  // Values that are saved after this one are computed from what it is computed from, not from its slice.
  now_[slice] = now_.at(value.made);
  put_made(carry_.body(), inner, value.made, later.order(), later.order().size(), value.made);
}

}  // namespace lowtide::engine
