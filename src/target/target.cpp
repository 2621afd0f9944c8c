#include "target/target.h"

namespace lowtide::engine {

OpRole Target::role_of(const Instruction& i) const {
  switch (i.opcode) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kOptBarrier:
    case Opcode::kDomain:
    case Opcode::kAddDependency:
    case Opcode::kAfterAll: return OpRole::kNone;
    case Opcode::kParameter: return OpRole::kSource;
    case Opcode::kConstant: return has_element(i) ? OpRole::kComputed : OpRole::kSource;
    case Opcode::kConditional:
    case Opcode::kWhile: return has_element(i) ? OpRole::kComputed : OpRole::kControl;
    default: break;
  }
  const bool by_element = i.opcode == Opcode::kDot && has_element(i) && !is_thick(i);
  if (!by_element && has_routine(i)) return OpRole::kLibrary;
  return has_element(i) || has_update(i) ? OpRole::kComputed : OpRole::kOther;
}

bool Target::calls_alone(const Instruction& i) const {
  return i.opcode == Opcode::kDot && is_worth_a_call(i) && has_routine(i);
}

}  // namespace lowtide::engine
