#pragma once
/// Asks XLA's own compiler, through the user's Python, how much memory a program needs.

#include <string>

#include "lowtide/module.h"
#include "lowtide/xla_account.h"
#include "outcome.h"

namespace lowtide::command {

/// python: an executable with jax 0.10 and its jaxlib. It compiles the program for the first devices of its default
/// platform (JAX_PLATFORMS chooses another) and runs nothing. kUnsupported if there is no such Python, or if XLA
/// doesn't accept the program.
Result<XlaAccount> ask_xla(const std::string& python, const Module& module);

}  // namespace lowtide::command
