#pragma once
/// Moves work that reads the stacks of a loop slice by slice after it into the loop, where each iteration makes its
/// slices.

#include "passes/pass.h"

namespace lowtide::engine {

enum class MadeInLoops : uint8_t {
  kReductions,  ///< until little is left of the stack
  kUpdates,     ///< until arrays are made that take the place of others, which die slice by slice
};

/// Counts the stacks that are gone.
Result<PassResult> make_in_loops(Module& module, const Target& target, MadeInLoops what);

}  // namespace lowtide::engine
