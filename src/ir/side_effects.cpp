#include "ir/side_effects.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

bool has_own_side_effect(Opcode opcode, const Attributes& attributes) {
  switch (opcode) {
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState: return true;
    case Opcode::kCustomCall:
      if (const auto* call = std::get_if<CustomCallAttributes>(&attributes)) {
        return call->has_side_effect || call->target.starts_with("check.");
      }
      return true;
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      if (const auto* async = std::get_if<std::shared_ptr<const AsyncAttributes>>(&attributes); async && *async) {
        return has_own_side_effect((*async)->wrapped, (*async)->inner);
      }
      return false;
    default: return false;
  }
}

bool has_side_effect(const Instruction& instruction, std::unordered_set<const Computation*>& seen) {
  if (has_own_side_effect(instruction.opcode, instruction.attributes)) return true;
  return std::ranges::any_of(instruction.called, [&](const Computation* called) {
    return seen.insert(called).second && std::ranges::any_of(called->instructions(), [&](const auto& inner) {
             return has_side_effect(*inner, seen);
           });
  });
}

}  // namespace

bool has_side_effect(const Instruction& instruction) {
  std::unordered_set<const Computation*> seen;
  return has_side_effect(instruction, seen);
}

SideEffects::SideEffects(const Module& module) {
  for (const Computation* computation : module.callees_first()) {
    for (const auto& instruction : computation->instructions()) {
      if (has(*instruction)) effectful_.insert(computation);
    }
  }
}

bool SideEffects::has(const Instruction& instruction) const {
  if (has_own_side_effect(instruction.opcode, instruction.attributes)) return true;
  return std::ranges::any_of(instruction.called, [&](const Computation* c) { return effectful_.contains(c); });
}

}  // namespace lowtide::engine
