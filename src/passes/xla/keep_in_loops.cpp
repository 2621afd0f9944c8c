#include "passes/xla/keep_in_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "analysis/late_readers.h"
#include "analysis/leaf_bytes.h"
#include "analysis/trip_count.h"
#include "passes/xla/barrier.h"
#include "target/target.h"

namespace lowtide::engine {
namespace {

/// Does XLA:CPU convert all of the operand, an array of narrow floats, of which this reads slices?
bool reads_slices_of_narrow_floats(const Instruction& i) {
  const bool slices = i.opcode == Opcode::kDynamicSlice || i.opcode == Opcode::kSlice || i.opcode == Opcode::kGather;
  return slices && is_floating(i.shape.type) && i.shape.type != ElementType::kF16 && stored_bytes(i.shape.type) <= 2 &&
         safe_logical_bytes(i.operand(0).shape) >= kSmallestTied;
}

bool is_element_of(const Instruction& i, const Instruction& parameter) {
  return i.opcode == Opcode::kGetTupleElement && i.operands[0] == &parameter;
}

/// The body of one loop.
class Body {
 public:
  Body(const Instruction& loop, int64_t counter, const Machine& machine)
      : loop_(loop), body_(*loop.called[1]), counter_(counter), machine_(machine), parameter_(*body_.parameters()[0]) {}

  /// Was anything tied?
  bool tie() {
    find_invariant();
    if (!makes_large_ || makes_small_masks()) made_.clear();
    // XLA:CPU converts bf16 and 8-bit floats to f32: whole arrays, though only slices are read.
    if (machine_.xla_backend == XlaBackend::kCpu) find_slices();
    collect_sources();
    if (sources_.empty()) return false;
    put_barrier();
    return true;
  }

 private:
  static bool is_pure(const Instruction& i) {
    const MemoryClass memory = memory_class(i.opcode);
    return memory == MemoryClass::kElementwise || memory == MemoryClass::kIndexMap || i.opcode == Opcode::kReshape ||
           i.opcode == Opcode::kConstant || i.opcode == Opcode::kDot || i.opcode == Opcode::kReduce;
  }

  /// Finds loop-invariant arrays, and which of them are computed. Broadcast scalars aren't tied: compilers don't hoist
  /// them, and only use a constant's value if they see it.
  void find_invariant() {
    std::unordered_set<const Instruction*> spread;  // constants and scalars, and values computed only from these
    for (const auto& i : body_.instructions()) {
      if (!i->shape.is_array() || !i->control_predecessors.empty()) continue;
      if (is_element_of(*i, parameter_)) {
        if (!carries_unchanged(loop_, static_cast<size_t>(i->as<TupleIndexAttributes>().index))) continue;
        invariant_.insert(i.get());
        if (i->shape.rank() == 0) spread.insert(i.get());
        continue;
      }
      if (i->opcode == Opcode::kIota) invariant_.insert(i.get());
      if (i->opcode == Opcode::kIota || !is_pure(*i)) continue;
      if (!std::ranges::all_of(i->operands, [&](const Instruction* o) { return invariant_.contains(o); })) continue;
      invariant_.insert(i.get());
      if (std::ranges::all_of(i->operands, [&](const Instruction* o) { return spread.contains(o); })) {
        spread.insert(i.get());
        continue;
      }
      made_.insert(i.get());
      makes_large_ = makes_large_ || safe_logical_bytes(i->shape) >= kSmallestTied;
    }
  }

  /// Are computed invariants made of indices alone, and take little where they are stored before the loop?
  bool makes_small_masks() const {
    for (const Instruction* made : made_) {
      if (std::ranges::any_of(made->operands, [&](const Instruction* o) {
            return o->shape.rank() > 0 && is_element_of(*o, parameter_);
          })) {
        return false;
      }
    }
    int64_t carried = 0;
    for (const Shape& element : parameter_.shape.elements) carried += safe_logical_bytes(element);
    return hoisted_bytes() * kSmallPartOfMasks < carried;
  }

  /// Of the computed invariants that a compiler would store before the loop: those that something else reads.
  int64_t hoisted_bytes() const {
    std::unordered_set<const Instruction*> hoisted;
    for (const auto& i : body_.instructions()) {
      if (made_.contains(i.get())) continue;
      for (const Instruction* operand : i->operands) {
        if (made_.contains(operand)) hoisted.insert(operand);
      }
    }
    int64_t bytes = 0;
    for (const Instruction* i : hoisted) bytes += safe_logical_bytes(i->shape);
    return bytes;
  }

  void find_slices() {
    for (const auto& i : body_.instructions()) {
      if (reads_slices_of_narrow_floats(*i) && invariant_.contains(i->operands[0]) && i->control_predecessors.empty()) {
        made_.insert(i.get());
      }
    }
  }

  /// Collects operands of what is computed from invariants that aren't computed themselves.
  void collect_sources() {
    std::unordered_set<const Instruction*> read;
    for (const Instruction* made : made_) read.insert(made->operands.begin(), made->operands.end());
    for (const auto& i : body_.instructions()) {
      const bool array = i->shape.rank() > 0 && invariant_.contains(i.get()) &&
                         (i->opcode == Opcode::kIota || is_element_of(*i, parameter_));
      if (array && read.contains(i.get())) sources_.push_back(i.get());
    }
  }

  void put_barrier() {
    Names names(body_);
    std::vector<Instruction*> order;
    for (const auto& i : body_.instructions()) order.push_back(i.get());
    auto own = std::make_unique<Instruction>();
    own->opcode = Opcode::kGetTupleElement;
    own->name = names.unused("kept");
    own->shape = parameter_.shape.elements[counter_];
    own->operands = {&parameter_};
    own->attributes = TupleIndexAttributes{counter_};
    Instruction* counter = body_.append(std::move(own));
    std::vector<Instruction*> bundle{counter};
    bundle.insert(bundle.end(), sources_.begin(), sources_.end());
    std::vector<Instruction*> first{&parameter_};
    first.insert(first.end(), bundle.begin(), bundle.end());
    const std::vector<Instruction*> tied = put_behind_barrier(body_, names, "kept", bundle, 1, first);
    for (Instruction* user : order) {
      if (!made_.contains(user)) continue;
      for (size_t k = 0; k < sources_.size(); ++k) std::ranges::replace(user->operands, sources_[k], tied[k + 1]);
    }
    const std::unordered_set<const Instruction*> placed(first.begin(), first.end());
    for (Instruction* i : order) {
      if (!placed.contains(i)) first.push_back(i);
    }
    body_.reorder(first);
  }

  const Instruction& loop_;
  Computation& body_;
  int64_t counter_;
  const Machine& machine_;
  Instruction& parameter_;
  std::unordered_set<const Instruction*> invariant_;
  std::unordered_set<const Instruction*> made_;  ///< of invariants: what is to read them through the barrier
  std::vector<Instruction*> sources_;
  bool makes_large_ = false;
};

}  // namespace

Result<PassResult> keep_in_loops(Module& module, const Target& target) {
  PassResult result;
  std::unordered_set<const Computation*> seen;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode != Opcode::kWhile || !i->shape.is_tuple()) continue;
      Computation& body = *i->called[1];
      const std::optional<TripCount> trips = trip_count(*i);
      if (!trips || trips->carry < 0 || body.root->opcode != Opcode::kTuple || !seen.insert(&body).second) continue;
      result.count += Body(*i, trips->carry, target.machine()).tie() ? 1 : 0;
    }
  }
  result.changed = result.count > 0;
  result.note = fmt::format("what {} loops compute from invariants in each iteration stays in them", result.count);
  return result;
}

}  // namespace lowtide::engine
