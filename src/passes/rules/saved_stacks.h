#pragma once
/// Stacks that a loop fills, one slice in each iteration from the first to the last, and reads of them by later loops.

#include <deque>

#include "analysis/uses.h"
#include "passes/rules/loop_carry.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {

using Callers = std::unordered_map<const Computation*, int>;

/// One slice of a stack, read by a later loop.
struct StackRead {
  Instruction* loop = nullptr;
  Instruction* slice = nullptr;  ///< the dynamic-slice in the loop's body
};

/// An element of a loop's carry that iteration i fills at place i.
struct SavedStack {
  size_t element = 0;
  size_t dimension = 0;           ///< along which slices are stacked
  Instruction* update = nullptr;  ///< in the body
  Instruction* value = nullptr;   ///< the slice's value, before reshapes
  Instruction* result = nullptr;  ///< the full stack, after the loop
  std::vector<StackRead> reads;
  bool may_go = true;  ///< nothing else reads it, and it is in the device's memory

  double slice_bytes() const;
  /// The index along the stack, in the body of a read's loop.
  Instruction* place_of(const StackRead& read) const { return read.slice->operands[1 + dimension]; }
  /// The slice at a place, with this shape.
  Instruction* slice_at(Instruction* all, Instruction* place, const Shape& shape, Maker& maker) const;
};

class SavedStacks {
 public:
  SavedStacks(Instruction& loop, const Uses& uses, const Callers& callers);

  std::deque<SavedStack>& all() { return stacks_; }
  const Instruction& loop() const { return carry_.loop(); }
  LoopCarry& carry() { return carry_; }
  const LoopCarry& carry() const { return carry_; }
  int64_t trips() const { return trips_; }
  /// The element of the carry that counts iterations from 0.
  size_t counter() const { return counter_; }
  bool reads_element(const Instruction& i, size_t k) const;
  /// Later loops that read stacks, once for each place at which they do.
  std::vector<std::pair<Instruction*, Instruction*>> readers() const;
  /// In a later loop's body: the iteration that filled this place; slices clamp it.
  Instruction* trip_at(Instruction* place, ElementType type, Maker& maker) const;
  /// Adds a stack for an array that the body computes. Nothing reads it yet.
  SavedStack& save(Instruction& value);

 private:
  void add_stack(size_t k);
  void add_reads(const Instruction& result, SavedStack& stack) const;
  bool add_reads_of_loop(const Instruction& result, const Instruction& start, SavedStack& stack) const;

  Instruction& loop_;
  const Uses& uses_;
  const Callers& callers_;
  LoopCarry carry_;
  int64_t trips_ = 0;
  size_t counter_ = 0;
  std::deque<SavedStack> stacks_;  ///< elements keep their addresses
};

std::vector<Instruction*> instructions_of(const Computation& computation);

/// `computation instruction`, as both are named.
std::string full_name(const Instruction& i);
/// Null: there is none.
Instruction* find_named(const Module& module, const std::string& full_name);
/// Places the first `count` new instructions before one instruction, the rest after another.
void put_made(Computation& computation, const std::vector<Instruction*>& before, const Instruction* first,
              const std::vector<Instruction*>& made, size_t count, const Instruction* second);
/// Places each new instruction before the first that reads it.
void put_made_late(Computation& computation, const std::vector<Instruction*>& before,
                   const std::vector<Instruction*>& made);

/// The loops of a module that no control edge holds.
std::vector<Instruction*> free_loops(const Module& module);

}  // namespace lowtide::engine
