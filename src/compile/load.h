#pragma once
/// Turns a plan into a program that runs: its regions are lowered to nests, once for all backends.

#include "backend/backend.h"
#include "compile/compile.h"

namespace lowtide::engine {

/// The input of a backend: the program, with the dependencies of its steps if it asks for them, which are checked
/// (check/order_proof.h), and its regions as nests, reusing those that planning has lowered.
Result<LoweredProgram> lower_program(const Compiled& compiled, const Backend& backend);

/// Refuses what can't be run before anything is compiled. backend: the one of the target that was planned for.
Result<std::unique_ptr<LoadedProgram>> load_program(const Compiled& compiled, const Backend& backend);

}  // namespace lowtide::engine
