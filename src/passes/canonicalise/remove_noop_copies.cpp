#include "passes/canonicalise/remove_noop_copies.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool is_zero(int64_t n) { return n == 0; }

/// The operand that is returned unchanged if the shapes agree; null if there is none.
Instruction* unchanged_operand(const Instruction& i, bool is_scheduled) {
  switch (i.opcode) {
    case Opcode::kCopy: return is_scheduled ? nullptr : i.operands[0];
    case Opcode::kReshape:
    case Opcode::kBitcast: return i.operands[0];
    case Opcode::kTranspose:
    case Opcode::kBroadcast: return counts_up(i.as<DimensionsAttributes>().dimensions) ? i.operands[0] : nullptr;
    case Opcode::kReverse:
      for (const int64_t d : i.as<DimensionsAttributes>().dimensions) {
        if (i.shape.dims[d] > 1) return nullptr;
      }
      return i.operands[0];
    case Opcode::kConcatenate: return i.operands.size() == 1 ? i.operands[0] : nullptr;
    case Opcode::kSlice:         // as large as the operand with stride 1: it selects everything
    case Opcode::kDynamicSlice:  // the start is clamped to zero
      return i.operands[0];
    case Opcode::kDynamicUpdateSlice:  // the update covers everything
      return i.operands[1];
    case Opcode::kPad: {
      const auto& pad = i.as<PadAttributes>();
      const bool nothing = std::ranges::all_of(pad.low, is_zero) && std::ranges::all_of(pad.high, is_zero) &&
                           std::ranges::all_of(pad.interior, is_zero);
      return nothing ? i.operands[0] : nullptr;
    }
    default: return nullptr;
  }
}

}  // namespace

Result<PassResult> remove_noop_copies(Module& module) {
  const std::vector<bool> ordered = ordered_instructions(module);
  const bool partitioned = is_partitioned(module);
  Replacements replacements(module);
  int64_t merged = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      replacements.apply_to(*i);
      if (ordered[i->id] || (partitioned && i->sharding)) continue;
      if (i->opcode == Opcode::kReshape && i->operand(0).opcode == Opcode::kReshape && !ordered[i->operand(0).id] &&
          !(partitioned && i->operand(0).sharding)) {
        i->operands[0] = i->operands[0]->operands[0];
        ++merged;
      }
      Instruction* operand = unchanged_operand(*i, module.is_scheduled);
      if (operand && interchangeable(operand->shape, i->shape)) replacements.replace(*i, *operand);
    }
    replacements.finish(*computation);
  }
  return rewritten(replacements.count() + merged, "copies removed or reshapes merged");
}

}  // namespace lowtide::engine
