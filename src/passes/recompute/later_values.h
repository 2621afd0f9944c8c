#pragma once
/// What a later loop computes from the slices that it reads at one place of another loop's stacks, and which could be
/// computed and saved in that other loop instead.
///
///     while (i, ..):  ss[i] = state    hs[i] = h            while (i, ..):  m = select(first, state[k], h)
///     while (j, ..):  x = select(first, ss[j][k], hs[j])  ==>               ms[i] = m
///                     f(x)                                  while (j, ..):  f(ms[j])
///
/// Such values are computed from slices, constants and invariants of both loops by elementwise work, moves and
/// reductions. The first loop would compute them once, as the later one does now.

#include <map>
#include <vector>

#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {

class LaterValues {
 public:
  LaterValues(SavedStacks& saved, Instruction& reader, Instruction& place, const Uses& uses, const Callers& callers);

  struct Value {
    Instruction* made = nullptr;        ///< in the later loop's body
    const SavedStack* stack = nullptr;  ///< of a slice; null: computed from others
    std::vector<size_t> operands;       ///< by number; only those that depend on slices
    bool is_needed = false;             ///< something reads it that isn't among these values
  };
  /// Operands before users.
  const std::vector<Value>& all() const { return values_; }
  /// Computes and saves a value in the first loop; the later one reads its slice.
  void save(const Value& value);

 private:
  void find_slices();
  void find_given();
  void add(Instruction& made, const SavedStack* stack, std::vector<size_t> operands);
  void visit(Instruction& i);
  void visit_bundle(const Instruction& i);
  void need(const Instruction& operand);
  void bring(const Instruction& i);
  Instruction* make(const Instruction& i, Maker& maker);

  SavedStacks& saved_;
  Instruction& place_;
  LoopCarry carry_;  ///< of the reading loop
  std::vector<Value> values_;
  std::map<const Instruction*, size_t> number_;
  std::map<const Instruction*, const SavedStack*> stacks_;  ///< by slice
  std::map<const Instruction*, Instruction*> given_;        ///< by read in the reading loop: its initial value
  std::map<const Instruction*, bool> free_;                 ///< computed from constants and given values alone
  std::map<const Instruction*, Instruction*> now_;          ///< values in the first loop
};

}  // namespace lowtide::engine
