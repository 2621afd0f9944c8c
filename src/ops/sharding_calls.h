#pragma once
/// Custom calls that only say how values are divided over devices.

#include <string>

#include "ir/module.h"

namespace lowtide::engine {

/// Does a custom call of this target only say how its operand is divided over devices?
bool is_sharding_target(const std::string& target);

/// Is the instruction such a call, with each result a name for the operand of its number?
bool names_its_operands(const Instruction& instruction);

/// Of such a call: which of its sides has the shapes of one device's parts where the other has those of the whole.
enum class PartSide : uint8_t { kNeither, kResults, kOperands };
PartSide part_side(const Instruction& instruction);

}  // namespace lowtide::engine
