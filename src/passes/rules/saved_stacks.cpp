#include "passes/rules/saved_stacks.h"

#include <algorithm>
#include <ranges>

#include "analysis/leaf_bytes.h"
#include "analysis/trip_count.h"
#include "passes/in_place/slices.h"
#include "passes/rewrite.h"

namespace lowtide::engine {

double SavedStack::slice_bytes() const { return static_cast<double>(safe_logical_bytes(update->operand(1).shape)); }

Instruction* SavedStack::slice_at(Instruction* all, Instruction* place, const Shape& shape, Maker& maker) const {
  const Dims& dims = update->operand(1).shape.dims;
  std::vector<Instruction*> operands{all};
  for (size_t d = 0; d < dims.size(); ++d) {
    operands.push_back(d == dimension ? place : maker.constant(place->shape.type, 0));
  }
  Instruction* slice =
      maker.make(Opcode::kDynamicSlice, Shape::array(shape.type, dims), operands, DynamicSliceAttributes{dims});
  return maker.reshape(slice, shape.dims);
}

SavedStacks::SavedStacks(Instruction& loop, const Uses& uses, const Callers& callers)
    : loop_(loop), uses_(uses), callers_(callers), carry_(loop, callers, &uses) {
  const auto trips = trip_count(loop);
  if (!carry_.ok() || !trips || trips->carry < 0 || trips->start != 0 || trips->step != 1 || trips->trips < 1) return;
  trips_ = trips->trips;
  counter_ = static_cast<size_t>(trips->carry);
  for (size_t k = 0; k < carry_.size(); ++k) add_stack(k);
}

bool SavedStacks::reads_element(const Instruction& i, size_t k) const {
  return std::ranges::find(carry_.reads(k), &i) != carry_.reads(k).end();
}

void SavedStacks::add_stack(size_t k) {
  Instruction* update = carry_.body().root->operands[k];
  if (update->opcode != Opcode::kDynamicUpdateSlice || !reads_element(update->operand(0), k)) return;
  if (uses_.of(*update).size() != 1 || uses_.of(update->operand(0)).size() != 1 || carry_.reads(k).size() != 1) return;
  const Dims &all = update->shape.dims, &part = update->operand(1).shape.dims;
  int64_t along = -1;
  for (size_t d = 0; d < all.size(); ++d) {
    const Instruction& start = update->operand(2 + d);
    if (part[d] == all[d] && is_zero(start)) continue;
    if (along >= 0 || part[d] != 1 || all[d] != trips_ || !reads_element(start, counter_)) return;
    along = static_cast<int64_t>(d);
  }
  if (along < 0) return;
  SavedStack stack;
  stack.element = k;
  stack.dimension = static_cast<size_t>(along);
  stack.update = update;
  stack.value = behind_reshapes(update->operands[1]);
  stack.may_go = !is_in_host(update->shape);
  for (const Instruction* user : uses_.of(loop_)) {
    if (user->as<TupleIndexAttributes>().index == static_cast<int64_t>(k)) add_reads(*user, stack);
  }
  if (stack.result) stacks_.push_back(stack);
}

void SavedStacks::add_reads(const Instruction& result, SavedStack& stack) const {
  if (stack.result) stack.may_go = false;  // read from the tuple twice
  stack.result = const_cast<Instruction*>(&result);
  if (&result == result.parent->root) stack.may_go = false;
  for (const Instruction* user : uses_.of(result)) {
    if (!add_reads_of_loop(result, *user, stack)) stack.may_go = false;
  }
}

/// `start`: the initial tuple of a later loop.
bool SavedStacks::add_reads_of_loop(const Instruction& result, const Instruction& start, SavedStack& stack) const {
  if (start.opcode != Opcode::kTuple || uses_.of(start).size() != 1 || &start == start.parent->root) return false;
  Instruction& loop = const_cast<Instruction&>(*uses_.of(start)[0]);
  if (loop.opcode != Opcode::kWhile) return false;
  const LoopCarry carry(loop, callers_, &uses_);
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

std::vector<std::pair<Instruction*, Instruction*>> SavedStacks::readers() const {
  std::vector<std::pair<Instruction*, Instruction*>> readers;
  for (const SavedStack& s : stacks_) {
    for (const StackRead& read : s.reads) {
      const std::pair reader(read.loop, s.place_of(read));
      if (std::ranges::find(readers, reader) == readers.end()) readers.push_back(reader);
    }
  }
  return readers;
}

Instruction* SavedStacks::trip_at(Instruction* place, ElementType type, Maker& maker) const {
  Instruction* last = maker.constant(place->shape.type, trips_ - 1);
  Instruction* first = maker.constant(place->shape.type, 0);
  Instruction* low = maker.binary(Opcode::kMaximum, place, first);
  return maker.convert(maker.binary(Opcode::kMinimum, low, last), type);
}

SavedStack& SavedStacks::save(Instruction& value) {
  Dims part{1}, all{trips_};
  for (Dims* dims : {&part, &all}) dims->insert(dims->end(), value.shape.dims.begin(), value.shape.dims.end());

  // Before and after the loop.
  Computation& parent = *loop_.parent;
  Maker outside(parent);
  const std::vector<Instruction*> outer = instructions_of(parent);
  Instruction* zeros = outside.filled(value.shape.type, all, 0);
  const size_t element = carry_.size();
  Instruction* stack = carry_.add(*zeros);
  const size_t made_before = outside.order().size();
  Instruction* result = outside.element(loop_, element);
  put_made(parent, outer, loop_.operands[0], outside.order(), made_before, &loop_);

  // In the loop: at the end, after all saved values.
  Maker inside(carry_.body());
  Instruction* counter = carry_.reads(counter_)[0];
  std::vector<Instruction*> operands{stack, inside.reshape(&value, part), counter};
  for (size_t d = 1; d < all.size(); ++d) operands.push_back(inside.constant(counter->shape.type, 0));
  Instruction* update = inside.make(Opcode::kDynamicUpdateSlice, zeros->shape, operands);
  carry_.set_next(element, *update);
  carry_.put_reads_first();
  std::vector<Instruction*> order = instructions_of(carry_.body());
  std::erase(order, carry_.body().root);
  order.push_back(carry_.body().root);
  carry_.body().reorder(order);

  return stacks_.emplace_back(SavedStack{.element = element, .update = update, .value = &value, .result = result});
}

std::vector<Instruction*> instructions_of(const Computation& computation) {
  std::vector<Instruction*> all;
  for (const auto& i : computation.instructions()) all.push_back(i.get());
  return all;
}

void put_made(Computation& computation, const std::vector<Instruction*>& before, const Instruction* first,
              const std::vector<Instruction*>& made, size_t count, const Instruction* second) {
  std::vector<Instruction*> order;
  const auto middle = made.begin() + static_cast<std::ptrdiff_t>(count);
  for (Instruction* i : before) {
    if (i == first) order.insert(order.end(), made.begin(), middle);
    order.push_back(i);
    if (i == second) order.insert(order.end(), middle, made.end());
  }
  computation.reorder(order);
}

void put_made_late(Computation& computation, const std::vector<Instruction*>& before,
                   const std::vector<Instruction*>& made) {
  std::unordered_map<const Instruction*, size_t> first_read;  // by new instruction: a place in `before`
  for (const Instruction* i : made) first_read[i] = before.size();
  const auto reads_at = [&](const Instruction& user, size_t place) {
    for (const Instruction* operand : user.operands) {
      const auto read = first_read.find(operand);
      if (read != first_read.end()) read->second = std::min(read->second, place);
    }
  };
  for (size_t k = 0; k < before.size(); ++k) reads_at(*before[k], k);
  for (const Instruction* i : std::views::reverse(made)) reads_at(*i, first_read.at(i));
  std::vector<std::vector<Instruction*>> made_at(before.size() + 1);
  for (Instruction* i : made) made_at[first_read.at(i)].push_back(i);
  std::vector<Instruction*> order;
  for (size_t k = 0; k <= before.size(); ++k) {
    order.insert(order.end(), made_at[k].begin(), made_at[k].end());
    if (k < before.size()) order.push_back(before[k]);
  }
  computation.reorder(order);
}

std::vector<Instruction*> free_loops(const Module& module) {
  const std::vector<bool> ordered = ordered_instructions(module);
  std::vector<Instruction*> loops;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kWhile && !ordered[i->id]) loops.push_back(i.get());
    }
  }
  return loops;
}

std::string full_name(const Instruction& i) { return i.parent->name + " " + i.name; }

Instruction* find_named(const Module& module, const std::string& name) {
  for (const auto& computation : module.computations()) {
    if (!name.starts_with(computation->name + " ")) continue;
    for (const auto& i : computation->instructions()) {
      if (full_name(*i) == name) return i.get();
    }
  }
  return nullptr;
}

}  // namespace lowtide::engine
