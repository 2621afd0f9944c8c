#pragma once
/// What XLA's own compiler needs for a program, asked through the user's Python.

#include <string>

#include "lowtide/module.h"
#include "lowtide/xla_account.h"
#include "outcome.h"

namespace lowtide::command {

/// python: an executable with jax 0.10 and its jaxlib. It compiles the program for the first devices of its default
/// platform (JAX_PLATFORMS chooses another) and runs nothing. kUnsupported: there is no such Python, or XLA accepts the
/// program in no form.
Result<XlaAccount> ask_xla(const std::string& python, const Module& module);

}  // namespace lowtide::command
