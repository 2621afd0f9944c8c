#include "passes/recompute/lift_slices.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/element_read.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {
namespace {

/// Lifts loop-invariant slices of the values that a loop carries from an outer loop.
class Lift {
 public:
  Lift(Instruction& loop, const Uses& uses, const Callers& callers) : loop_(loop), carry_(loop, callers), uses_(uses) {}

  bool run() {
    if (!carry_.ok()) return false;
    std::vector<const Instruction*> slices;
    for (size_t k = 0; k < carry_.size(); ++k) add_slices(k, slices);
    if (slices.empty()) return false;
    const std::vector<Instruction*> outer = instructions_of(*loop_.parent);
    Maker maker(*loop_.parent);
    InstructionMap lifted;
    for (const Instruction* slice : slices) {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : slice->operands) operands.push_back(outside(*operand, maker));
      lifted[slice] = maker.copy(*slice, std::move(operands));
    }
    put_made(*loop_.parent, outer, loop_.operands[0], maker.order(), maker.order().size(), nullptr);
    for (const Instruction* slice : slices) lifted[slice] = carry_.invariant(*lifted[slice]);
    for (Instruction* i : instructions_of(carry_.body())) read_instead(i->operands, lifted);
    carry_.put_reads_first();
    return true;
  }

 private:
  /// Only if nothing else reads the stack.
  void add_slices(size_t k, std::vector<const Instruction*>& slices) const {
    if (!carry_.is_invariant(k) || !is_given_to_computation(carry_.initial(k))) return;
    std::vector<const Instruction*> found;
    for (const Instruction* read : carry_.reads(k)) {
      for (const Instruction* user : uses_.of(*read)) {
        if (user == carry_.body().root) continue;
        const bool is_slice = user->opcode == Opcode::kDynamicSlice && user->operands[0] == read;
        if (!is_slice || !is_same_in_each(*user)) return;
        found.push_back(user);
      }
    }
    slices.insert(slices.end(), found.begin(), found.end());
  }

  bool is_same_in_each(const Instruction& slice) const {
    return std::all_of(slice.operands.begin() + 1, slice.operands.end(), [&](const Instruction* start) {
      return start->opcode == Opcode::kConstant || carry_.invariant_of(*start) >= 0;
    });
  }

  Instruction* outside(const Instruction& operand, Maker& maker) const {
    if (operand.opcode == Opcode::kConstant) return maker.copy(operand, std::vector<Instruction*>());
    return &carry_.initial(static_cast<size_t>(carry_.invariant_of(operand)));
  }

  Instruction& loop_;
  LoopCarry carry_;
  const Uses& uses_;
};

}  // namespace

bool lift_slices(Module& module) {
  bool any = false;
  const Callers callers = count_callers(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  // The innermost loops first: a slice that is lifted out of one loop may be lifted out of the next.
  for (Computation* computation : module.callees_first()) {
    if (computation == module.entry) continue;
    for (Instruction* i : instructions_of(*computation)) {
      if (i->opcode != Opcode::kWhile || ordered[i->id]) continue;
      any |= Lift(*i, Uses(*i->called[1]), callers).run();
    }
  }
  if (any) LT_ASSERT(remove_dead_code(module).ok(), "dead code can be removed");
  return any;
}

}  // namespace lowtide::engine
