#pragma once
/// Checks that a module is well-formed: arities, called computations, inferred shapes, operands before users.

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// The first error found, with its place in the module's source; it names the instruction and the broken constraint.
Status verify(const Module& module);
Status verify(const Instruction& instruction);

/// For a verified module: checks that the bytes of all its arrays can be added up without overflow.
Status verify_sizes(const Module& module);

/// Checks that all constants are known: a constant that the text abbreviates as `{...}` can't be run. Must be called
/// before compiling or interpreting a module; not needed for planning and printing only.
Status verify_runnable(const Module& module);

}  // namespace lowtide::engine
