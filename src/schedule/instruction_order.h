#pragma once
/// Puts a module's instructions in the order in which a program runs them.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schedule/program.h"

namespace lowtide::engine {

/// The former place of each instruction, by the computation's name; only for computations that changed.
using InstructionOrder = std::map<std::string, std::vector<int32_t>, std::less<>>;

/// `module` is the program's own. What the program doesn't run as steps (virtual values, aliases) comes after its last
/// operand.
InstructionOrder put_in_order(Module& module, const Program& program);

/// Applies a recorded order. False, with nothing changed: it belongs to another module, or doesn't keep operands before
/// users.
bool put_in_order(Module& module, const InstructionOrder& order);

}  // namespace lowtide::engine
