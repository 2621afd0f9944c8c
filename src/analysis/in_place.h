#pragma once
/// Where a result may, or must, live in an operand's bytes.

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// Whose rules decide what runs in place. Read from the text: backends leave their mark on layouts and configurations.
enum class XlaBackend : uint8_t { kCpu, kGpu, kTpu };
XlaBackend backend_of(const Module& module);

/// Leaf `result` of an instruction and leaf `leaf` of its operand number `operand`.
struct InPlacePair {
  int32_t operand = 0, leaf = 0, result = 0;
};

/// Results that are updates of an operand: dynamic-update-slice, scatter, all-reduce-start, fusions around these, and
/// whatever output_to_operand_aliasing declares. XLA gives both one buffer, always.
std::vector<InPlacePair> updates_of(const Instruction& instruction);

/// May the result leaf be written over the operand leaf while that is being read for the last time? (XLA's
/// CanShareOperandBufferWithUser: same shape and element by element, sort and while by position; on GPUs same bytes and
/// element by element inside a fusion.) The bytes of both are taken to be equal.
bool may_overwrite(const Instruction& user, const InPlacePair& pair, XlaBackend backend);

}  // namespace lowtide::engine
