#include "passes/rules/recipe.h"

#include <algorithm>

#include "analysis/evaluations.h"
#include "analysis/leaf_bytes.h"
#include "ir/element_read.h"

namespace lowtide::engine {

bool is_donated(const Instruction& i) {
  if (i.opcode != Opcode::kParameter) return false;
  const Module& module = i.parent->module();
  const int64_t number = i.as<ParameterAttributes>().number;
  return std::ranges::any_of(module.input_output_alias, [&](const AliasEntry& a) { return a.operand == number; }) ||
         std::ranges::any_of(module.buffer_donors, [&](const Module::Donor& d) { return d.parameter == number; });
}

bool is_light(const Instruction& i) {
  if (!i.shape.is_array() || !i.called.empty() || !i.control_predecessors.empty() || !i.shape.dynamic.empty()) {
    return false;
  }
  switch (i.opcode) {
    case Opcode::kIota:
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kReverse:
    case Opcode::kPad:
    case Opcode::kConcatenate: return true;
    default: return memory_class(i.opcode) == MemoryClass::kElementwise && !i.operands.empty();
  }
}

bool is_source(const Instruction& i) {
  return i.opcode == Opcode::kIota || (i.opcode == Opcode::kConstant && element_count(i.shape) == 1);
}

bool is_given(const Instruction& i) {
  const Computation& c = *i.parent;
  if (i.opcode == Opcode::kParameter && &c == c.module().entry) return true;
  if (element_read(i) < 0) return false;
  const auto k = static_cast<size_t>(element_read(i));
  if (c.root->opcode != Opcode::kTuple || k >= c.root->operands.size()) return false;
  const Instruction& next = c.root->operand(k);
  return next.opcode == Opcode::kGetTupleElement && next.operands[0] == i.operands[0] &&
         next.as<TupleIndexAttributes>().index == static_cast<int64_t>(k);
}

bool is_kept(const Instruction& i, const Instruction& reader) {
  return is_given(i) && (!is_donated(i) || is_read_behind(reader, i));
}

double kept_longer(const Instruction& initial, const Instruction& loop) {
  // A transposed array is read where the array lies.
  if (initial.opcode == Opcode::kTranspose || initial.opcode == Opcode::kReshape)
    return kept_longer(initial.operand(0), loop);
  const Instruction& begins = *loop.operands[0];
  const bool is_read =
      is_read_behind(loop, initial) || std::ranges::find(begins.operands, &initial) != begins.operands.end();
  return is_read || is_kept(initial, loop) || initial.opcode == Opcode::kConstant
             ? 0
             : static_cast<double>(safe_logical_bytes(initial.shape));
}

bool is_read_behind(const Instruction& reader, const Instruction& i) {
  const auto& all = reader.parent->instructions();
  return std::any_of(all.rbegin(), all.rend(), [&, behind = true](const auto& user) mutable {
    behind = behind && user.get() != &reader;
    return behind && std::ranges::find(user->operands, &i) != user->operands.end();
  });
}

double time_of(const Instruction& i, const Cost& cost) {
  switch (i.opcode) {
    case Opcode::kParameter:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement: return 0;
    case Opcode::kWhile: return guessed_trips(i) * time_of(*i.called[1], cost);
    case Opcode::kConditional: {
      double most = 0;
      for (const Computation* branch : i.called) most = std::max(most, time_of(*branch, cost));
      return most;
    }
    default: return cost.repeated_ns(i);
  }
}

double time_of(const Computation& computation, const Cost& cost) {
  double ns = 0;
  for (const auto& i : computation.instructions()) ns += time_of(*i, cost);
  return ns;
}

bool RecipeTrail::look_at(const Instruction& i) {
  if (!seen_.insert(&i).second) return false;
  order_.push_back(&i);
  return true;
}

void RecipeTrail::return_to(const Place& place) {
  recipe.ops.resize(place.ops);
  recipe.inputs.resize(place.inputs);
  recipe.ns = place.ns;
  recipe.bytes = place.bytes;
  for (; order_.size() > place.seen; order_.pop_back()) seen_.erase(order_.back());
}

}  // namespace lowtide::engine
