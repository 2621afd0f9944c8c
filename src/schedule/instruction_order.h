#pragma once
/// A module's instructions in the order in which a program runs them.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schedule/program.h"

namespace lowtide::engine {

/// Where each instruction of a computation stood before, by the computation's name; of computations that changed.
using InstructionOrder = std::map<std::string, std::vector<int32_t>, std::less<>>;

/// `module` is the program's own. What the program doesn't run as steps (virtual values, aliases) comes after its last
/// operand.
InstructionOrder put_in_order(Module& module, const Program& program);

/// The same again. False, and nothing is changed: it is the order of another module, or none that keeps operands before
/// their users.
bool put_in_order(Module& module, const InstructionOrder& order);

}  // namespace lowtide::engine
