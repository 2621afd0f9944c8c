#pragma once
/// A module's instructions in the order in which a program runs them.

#include "schedule/program.h"

namespace lowtide {

/// `module` is the program's own. What the program doesn't run by itself (virtual values, names) comes behind its last
/// operand.
void put_in_order(Module& module, const Program& program);

}  // namespace lowtide
