#pragma once
/// Is a module well-formed: arities, called computations, shapes as the rules infer them, operands before users.

#include "base/status.h"
#include "ir/module.h"

namespace lowtide {

/// The first fault found, with its place in the module's source; it names the instruction and the broken constraint.
Status verify(const Module& module);
Status verify(const Instruction& instruction);

}  // namespace lowtide
