#include "passes/canonicalise/fold_constants.h"

#include "ops/no_calls.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool may_fold(const Instruction& i) {
  if (!i.called.empty() || i.operands.empty() || !i.shape.is_array() || !rule_of(i.opcode).eval) return false;
  if (i.opcode == Opcode::kBroadcast || i.opcode == Opcode::kOptBarrier || i.opcode == Opcode::kDomain ||
      i.opcode == Opcode::kBitcast || i.opcode == Opcode::kAddDependency) {
    return false;
  }
  const MemoryClass memory = memory_class(i.opcode);
  if (memory != MemoryClass::kElementwise && memory != MemoryClass::kIndexMap && memory != MemoryClass::kView)
    return false;
  if (!i.shape.dynamic.empty() || (i.shape.layout && i.shape.layout->memory_space != 0)) return false;
  if (logical_bytes(i.shape) > kLargestFolded) return false;
  int64_t operand_bytes = 0;
  for (const Instruction* operand : i.operands) {
    if (operand->opcode != Opcode::kConstant || !operand->shape.is_array() || !known_constant(*operand)) return false;
    operand_bytes += logical_bytes(operand->shape);
  }
  return operand_bytes <= kLargestOperands;
}

/// The operation's value; null if its definition gives none.
Value value_of(const Instruction& i) {
  std::vector<Value> operands;
  operands.reserve(i.operands.size());
  for (const Instruction* operand : i.operands) operands.push_back(operand->as<ConstantAttributes>().value);
  NoCalls context;
  auto value = rule_of(i.opcode).eval(i, operands, context);
  if (!value.ok()) return nullptr;
  Value result = value.take();
  return result && result->known() && same_shape(result->shape(), i.shape) ? result : nullptr;
}

void become_constant(Instruction& i, Value value) {
  i.opcode = Opcode::kConstant;
  i.operands.clear();
  i.attributes = ConstantAttributes{std::move(value)};
  i.extra.clear();
  i.backend_config.clear();
}

/// The operand that a scalar constant predicate selects.
Instruction* chosen_operand(const Instruction& i) {
  if (i.opcode != Opcode::kSelect || i.operand(0).shape.rank() != 0) return nullptr;
  const Literal* predicate = known_constant(i.operand(0));
  if (!predicate) return nullptr;
  Instruction* chosen = i.operands[integer_at(*predicate, 0) != 0 ? 1 : 2];
  return interchangeable(chosen->shape, i.shape) ? chosen : nullptr;
}

}  // namespace

Result<PassResult> fold_constants(Module& module) {
  const std::vector<bool> ordered = ordered_instructions(module);
  const bool partitioned = is_partitioned(module);
  Replacements replacements(module);
  int64_t folded = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      replacements.apply_to(*i);
      if (ordered[i->id]) continue;
      if (Instruction* chosen = chosen_operand(*i); chosen && !(partitioned && i->sharding)) {
        replacements.replace(*i, *chosen);
      } else if (may_fold(*i)) {
        if (Value value = value_of(*i)) {
          become_constant(*i, std::move(value));
          ++folded;
        }
      }
    }
    replacements.finish(*computation);
  }
  return rewritten(folded + replacements.count(), "values folded or chosen");
}

}  // namespace lowtide::engine
