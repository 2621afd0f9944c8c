#pragma once
/// What is taken out of a tuple: of the one that a computation is given, such as a loop's carry, or of a barrier's.

#include "ir/module.h"

namespace lowtide::engine {

/// The element of its computation's parameter that this get-tuple-element reads; -1 where it reads none.
inline int64_t element_read(const Instruction& i) {
  if (i.opcode != Opcode::kGetTupleElement || i.operand(0).opcode != Opcode::kParameter) return -1;
  return i.as<TupleIndexAttributes>().index;
}

/// The value that a barrier over a tuple hands on to this get-tuple-element; null: it takes out something else.
inline Instruction* before_barrier(const Instruction& i) {
  if (i.opcode != Opcode::kGetTupleElement || i.operand(0).opcode != Opcode::kOptBarrier) return nullptr;
  const Instruction& bundle = i.operand(0).operand(0);
  if (bundle.opcode != Opcode::kTuple) return nullptr;
  return bundle.operands[static_cast<size_t>(i.as<TupleIndexAttributes>().index)];
}

/// A parameter, or what is read of one: it stands before anything is computed.
inline bool is_given_to_computation(const Instruction& i) {
  return i.opcode == Opcode::kParameter || element_read(i) >= 0;
}

}  // namespace lowtide::engine
