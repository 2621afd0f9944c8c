#include "passes/recompute/lift_slices.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/element_read.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {
namespace {

/// Of the values that a loop carries from an outer loop, the slices that are the same in each of its iterations.
class Lift {
 public:
  Lift(Instruction& loop, const Uses& uses, const Callers& callers) : loop_(loop), carry_(loop, callers), uses_(uses) {}

  bool run() {
    if (!carry_.ok()) return false;
    std::vector<Instruction*> slices;
    for (size_t k = 0; k < carry_.size(); ++k) add_slices(k, slices);
    if (slices.empty()) return false;
    const std::vector<Instruction*> outer = instructions_of(*loop_.parent);
    Maker maker(*loop_.parent);
    InstructionMap lifted;
    for (Instruction* slice : slices) {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : slice->operands) operands.push_back(outside(*operand, maker));
      lifted[slice] = maker.copy(*slice, std::move(operands));
    }
    put_made(*loop_.parent, outer, loop_.operands[0], maker.order(), maker.order().size(), nullptr);
    for (Instruction* slice : slices) lifted[slice] = carry_.invariant(*lifted[slice]);
    for (Instruction* i : instructions_of(carry_.body())) {
      for (Instruction*& operand : i->operands) {
        if (const auto made = lifted.find(operand); made != lifted.end()) operand = made->second;
      }
    }
    carry_.put_reads_first();
    return true;
  }

 private:
  /// If nothing else reads the stack.
  void add_slices(size_t k, std::vector<Instruction*>& slices) {
    if (!carry_.is_invariant(k) || !is_given_to_computation(carry_.initial(k))) return;
    std::vector<Instruction*> found;
    for (Instruction* read : carry_.reads(k)) {
      for (const Instruction* user : uses_.of(*read)) {
        if (user == carry_.body().root) continue;
        const bool is_slice = user->opcode == Opcode::kDynamicSlice && user->operands[0] == read;
        if (!is_slice || !is_same_in_each(*user)) return;
        found.push_back(const_cast<Instruction*>(user));
      }
    }
    slices.insert(slices.end(), found.begin(), found.end());
  }

  bool is_same_in_each(const Instruction& slice) const {
    return std::all_of(slice.operands.begin() + 1, slice.operands.end(), [&](const Instruction* start) {
      return start->opcode == Opcode::kConstant || element_of(*start) >= 0;
    });
  }

  /// The loop-invariant element that this reads; -1: none.
  int64_t element_of(const Instruction& i) const {
    if (!is_given_to_computation(i)) return -1;
    const int64_t element = element_read(i);
    return element >= 0 && carry_.is_invariant(static_cast<size_t>(element)) ? element : -1;
  }

  Instruction* outside(const Instruction& operand, Maker& maker) const {
    if (operand.opcode == Opcode::kConstant) return maker.copy(operand, std::vector<Instruction*>());
    return &carry_.initial(static_cast<size_t>(element_of(operand)));
  }

  Instruction& loop_;
  LoopCarry carry_;
  const Uses& uses_;
};

}  // namespace

bool lift_slices(Module& module) {
  bool any = false;
  const Callers callers = count_callers(module);
  // Bodies come before what calls them: a slice that is lifted out of one loop may be lifted out of the next.
  for (Instruction* loop : free_loops(module)) {
    if (loop->parent != module.entry) any |= Lift(*loop, Uses(module), callers).run();
  }
  if (any) LT_ASSERT(remove_dead_code(module).ok(), "dead code can be removed");
  return any;
}

}  // namespace lowtide::engine
