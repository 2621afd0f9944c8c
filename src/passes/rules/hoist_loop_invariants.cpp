#include "passes/rules/hoist_loop_invariants.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "analysis/evaluations.h"
#include "analysis/leaf_bytes.h"
#include "passes/rules/loop_carry.h"
#include "passes/rules/maker.h"
#include "passes/rules/recipe.h"

namespace lowtide::engine {
namespace {

using InstructionSet = std::unordered_set<const Instruction*>;

/// The loop-invariant values of one body.
class Invariants {
 public:
  Invariants(const LoopCarry& carry, const std::vector<bool>& ordered, const SideEffects& effects, const Cost& cost)
      : carry_(carry), cost_(cost) {
    // Copies that left an inner loop have later ids, and no order.
    const auto is_ordered = [&](const Instruction& i) {
      return static_cast<size_t>(i.id) < ordered.size() && ordered[i.id];
    };
    for (const auto& i : carry.body().instructions()) {
      if (is_source(*i) || i->opcode == Opcode::kConstant || carry.invariant_of(*i) >= 0) {
        given_.insert(i.get());
      } else if (!i->operands.empty() && !is_ordered(*i) && !effects.has(*i) &&
                 std::ranges::all_of(i->operands, [&](const Instruction* o) { return is_invariant(*o); })) {
        computed_.insert(i.get());
      } else {
        for (const Instruction* operand : i->operands) read_by_varying_.insert(operand);
      }
    }
    choose();
  }

  /// Those to hoist that something else in the body reads, operands first.
  const std::vector<Instruction*>& chosen() const { return chosen_; }
  /// The modelled time to compute all of them, and what they are computed from.
  double ns() const { return ns_; }
  bool is_computed(const Instruction& i) const { return computed_.contains(&i); }

  /// What `open` is computed from in the body, itself included, without what is behind values of `hoisted`; about
  /// `most` instructions.
  std::vector<const Instruction*> sources_of(std::vector<const Instruction*> open, const InstructionSet& hoisted,
                                             size_t most = SIZE_MAX) const {
    std::vector<const Instruction*> reached;
    InstructionSet seen;
    while (!open.empty() && reached.size() < most) {
      const Instruction* i = open.back();
      open.pop_back();
      if (!seen.insert(i).second) continue;
      reached.push_back(i);
      if (is_computed(*i) && !hoisted.contains(i)) open.insert(open.end(), i->operands.begin(), i->operands.end());
    }
    return reached;
  }

 private:
  bool is_invariant(const Instruction& i) const { return given_.contains(&i) || computed_.contains(&i); }

  void choose() {
    InstructionSet hoisted;
    double ns = 0;
    for (const auto& i : carry_.body().instructions()) {
      if (!is_computed(*i) || !is_plain_array(*i)) continue;
      if (is_light(*i) && !read_by_varying_.contains(i.get())) continue;
      const double again = ns_from(*i, hoisted);
      const double bytes = static_cast<double>(safe_logical_bytes(i->shape));
      if (again < kHoistedFactor * bytes * cost_.byte_ns()) continue;
      hoisted.insert(i.get());
      ns += again;
    }
    // What only hoisted values read isn't carried.
    const auto read = sources_of({read_by_varying_.begin(), read_by_varying_.end()}, hoisted);
    const InstructionSet needed(read.begin(), read.end());
    for (const auto& i : carry_.body().instructions()) {
      if (hoisted.contains(i.get()) && needed.contains(i.get())) chosen_.push_back(i.get());
    }
    ns_ = chosen_.empty() ? 0 : ns;
  }

  /// The time to compute a value from given and hoisted ones, each operation once.
  double ns_from(const Instruction& value, const InstructionSet& hoisted) const {
    double ns = 0;
    for (const Instruction* i : sources_of({&value}, hoisted, kMostRecipeOps)) {
      if (is_computed(*i) && !hoisted.contains(i)) ns += time_of(*i, cost_);
    }
    return ns;
  }

  const LoopCarry& carry_;
  const Cost& cost_;
  InstructionSet given_, computed_, read_by_varying_;
  std::vector<Instruction*> chosen_;
  double ns_ = 0;
};

/// Computes the chosen values before the loop; the body reads them from its carry.
void hoist(LoopCarry& carry, const Invariants& invariants) {
  Computation &parent = *carry.loop().parent, &body = carry.body();
  const Instruction* start = carry.loop().operands[0];
  std::vector<Instruction*> order;
  for (const auto& i : parent.instructions()) order.push_back(i.get());
  const auto until_start = std::ranges::find(order, start) - order.begin();

  const auto sources = invariants.sources_of({invariants.chosen().begin(), invariants.chosen().end()}, {});
  const InstructionSet needed(sources.begin(), sources.end());
  Maker maker(parent);
  InstructionMap before;  // the value before the loop of each needed value of the body
  std::vector<Instruction*> made;
  for (const auto& i : body.instructions()) {
    if (!needed.contains(i.get())) continue;
    if (const int64_t k = carry.invariant_of(*i); k >= 0) {
      before[i.get()] = &carry.initial(static_cast<size_t>(k));
    } else {
      made.push_back(before[i.get()] = maker.copy(*i, before));
    }
  }
  order.insert(order.begin() + until_start, made.begin(), made.end());
  parent.reorder(order);

  Names names(body);
  InstructionMap now;
  for (Instruction* i : invariants.chosen()) now[i] = carry.invariant(*before.at(i), &names);
  for (const auto& i : body.instructions()) read_instead(i->operands, now);
  carry.put_reads_first();
}

}  // namespace

Result<PassResult> hoist_loop_invariants(Module& module, const Target& target) {
  int64_t count = 0;
  const Cost& cost = target.cost();
  const auto callers = count_callers(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  const SideEffects effects(module);
  // Inner loops first: what leaves one may leave the loop around it as well.
  for (const Computation* computation : module.callees_first()) {
    std::vector<Instruction*> loops;
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kWhile && guessed_trips(*i) > 1) loops.push_back(i.get());
    }
    for (Instruction* loop : loops) {
      LoopCarry carry(*loop, callers);
      if (!carry.ok()) continue;
      const Invariants invariants(carry, ordered, effects, cost);
      if (invariants.chosen().empty() || invariants.ns() < kLeastHoisted * time_of(carry.body(), cost)) continue;
      hoist(carry, invariants);
      count += std::ssize(invariants.chosen());
    }
  }
  return rewritten(count, "values computed before loops");
}

}  // namespace lowtide::engine
