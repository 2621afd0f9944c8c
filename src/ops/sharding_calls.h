#pragma once
/// Custom calls that only state how values are sharded over devices.

#include <string>

#include "ir/module.h"

namespace lowtide::engine {

/// Does a custom call of this target only state how its operand is sharded over devices?
bool is_sharding_target(const std::string& target);

/// Is the instruction such a call, with result k an alias of operand k?
bool names_its_operands(const Instruction& instruction);

/// Which side of such a call has the shapes of one device's shards, while the other has those of whole arrays.
enum class PartSide : uint8_t { kNeither, kResults, kOperands };
PartSide part_side(const Instruction& instruction);

}  // namespace lowtide::engine
