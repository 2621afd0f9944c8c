#include "passes/canonicalise/fold_tuples.h"

#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

/// The tuple that `bundle` takes apart and reassembles in the same order; null if it does anything else.
Instruction* whole_of(const Instruction& bundle) {
  if (bundle.operands.empty() || bundle.operand(0).opcode != Opcode::kGetTupleElement) return nullptr;
  Instruction* whole = bundle.operand(0).operands[0];
  for (size_t k = 0; k < bundle.operands.size(); ++k) {
    const Instruction& element = bundle.operand(k);
    if (element.opcode != Opcode::kGetTupleElement || element.operands[0] != whole) return nullptr;
    if (element.as<TupleIndexAttributes>().index != static_cast<int64_t>(k)) return nullptr;
  }
  return interchangeable(whole->shape, bundle.shape) ? whole : nullptr;
}

Instruction* stand_in(const Instruction& i) {
  if (i.opcode == Opcode::kGetTupleElement && i.operand(0).opcode == Opcode::kTuple) {
    const auto index = static_cast<size_t>(i.as<TupleIndexAttributes>().index);
    Instruction* element = i.operand(0).operands[index];
    return interchangeable(element->shape, i.shape) ? element : nullptr;
  }
  return i.opcode == Opcode::kTuple ? whole_of(i) : nullptr;
}

}  // namespace

Result<PassResult> fold_tuples(Module& module) {
  const std::vector<bool> ordered = ordered_instructions(module);
  const bool partitioned = is_partitioned(module);
  Replacements replacements(module);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      replacements.apply_to(*i);
      if (ordered[i->id] || (partitioned && i->sharding)) continue;
      if (Instruction* by = stand_in(*i)) replacements.replace(*i, *by);
    }
    replacements.finish(*computation);
  }
  return rewritten(replacements.count(), "elements and bundles folded");
}

}  // namespace lowtide::engine
