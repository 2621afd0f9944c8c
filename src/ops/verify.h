#pragma once
/// Is a module well-formed: arities, called computations, shapes as the rules infer them, operands before users.

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// The first fault found, with its place in the module's source; it names the instruction and the broken constraint.
Status verify(const Module& module);
Status verify(const Instruction& instruction);

/// Of a verified module: bytes of all its arrays can be added up.
Status verify_sizes(const Module& module);

/// Can it be run, as far as values go: a constant that the text abbreviated as `{...}` is no zero. To be asked before
/// anything is compiled or interpreted; what only plans and prints need not ask.
Status verify_runnable(const Module& module);

}  // namespace lowtide::engine
