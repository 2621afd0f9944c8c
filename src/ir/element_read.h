#pragma once
/// Elements read from a tuple: from a computation's parameter, such as a loop's carried values, or from a barrier.

#include "ir/module.h"

namespace lowtide::engine {

/// The element of its computation's parameter that this get-tuple-element reads; -1 if it reads none.
inline int64_t element_read(const Instruction& i) {
  if (i.opcode != Opcode::kGetTupleElement || i.operand(0).opcode != Opcode::kParameter) return -1;
  return i.as<TupleIndexAttributes>().index;
}

/// The value that this get-tuple-element reads through a barrier over a tuple; null: it reads something else.
inline Instruction* before_barrier(const Instruction& i) {
  if (i.opcode != Opcode::kGetTupleElement || i.operand(0).opcode != Opcode::kOptBarrier) return nullptr;
  const Instruction& bundle = i.operand(0).operand(0);
  if (bundle.opcode != Opcode::kTuple) return nullptr;
  return bundle.operands[i.as<TupleIndexAttributes>().index];
}

/// Is it a parameter, or an element of one? Then it is available before anything is computed.
inline bool is_given_to_computation(const Instruction& i) {
  return i.opcode == Opcode::kParameter || element_read(i) >= 0;
}

}  // namespace lowtide::engine
