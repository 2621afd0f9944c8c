#pragma once
/// What a computation takes out of the tuple that it is given: a loop's body its carry.

#include "ir/module.h"

namespace lowtide::engine {

/// The element of its computation's parameter that this get-tuple-element reads; -1 where it reads none.
inline int64_t element_read(const Instruction& i) {
  if (i.opcode != Opcode::kGetTupleElement || i.operand(0).opcode != Opcode::kParameter) return -1;
  return i.as<TupleIndexAttributes>().index;
}

/// A parameter, or what is read of one: it stands before anything is computed.
inline bool is_given_to_computation(const Instruction& i) {
  return i.opcode == Opcode::kParameter || element_read(i) >= 0;
}

}  // namespace lowtide::engine
