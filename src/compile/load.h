#pragma once
/// From a plan to a program that runs: its regions become nests, once, whoever runs them.

#include "backend/backend.h"
#include "compile/compile.h"

namespace lowtide::engine {

/// What a backend is handed: the program, with the dependencies of its steps if it asks for them, which are proved
/// (check/order_proof.h), and its regions as nests, those that planning has lowered among them.
Result<LoweredProgram> lower_program(const Compiled& compiled, const Backend& backend);

/// Refuses what can't be run before anything is compiled. backend: of the target that was planned for.
Result<std::unique_ptr<LoadedProgram>> load_program(const Compiled& compiled, const Backend& backend);

}  // namespace lowtide::engine
