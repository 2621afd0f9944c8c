#pragma once
/// Whether a result may, or must, be stored in an operand's bytes.

#include <cstdint>
#include <vector>

#include "ir/module.h"
#include "ir/xla_backend.h"

namespace lowtide::engine {

/// The backend whose rules decide what runs in place; recognised by its layouts and configurations in the text.
XlaBackend backend_of(const Module& module);

/// Leaf `result` of an instruction and leaf `leaf` of its operand number `operand`.
struct InPlacePair {
  int32_t operand = 0, leaf = 0, result = 0;
};

/// Results that are updates of an operand: of dynamic-update-slice, scatter, all-reduce-start, fusions around these,
/// and as declared by output_to_operand_aliasing. XLA always gives both one buffer.
std::vector<InPlacePair> updates_of(const Instruction& instruction);

/// May the result leaf be written over the operand leaf while the user reads the operand for the last time? (XLA's
/// CanShareOperandBufferWithUser: same shape and element by element, sort and while by position; on GPUs same bytes and
/// element by element inside a fusion.) Assumes that both have equally many bytes.
bool may_overwrite(const Instruction& user, const InPlacePair& pair, XlaBackend backend);

}  // namespace lowtide::engine
