#pragma once
/// Moves work that reads the stacks of a loop slice by slice after it into the loop, where each iteration makes its
/// slices.

#include "passes/pass.h"

namespace lowtide::engine {

enum class MadeInLoops : uint8_t {
  kReductions,  ///< until the stack has been reduced to little
  kUpdates,     ///< until arrays are computed that replace others, which die slice by slice
};

/// Counts the stacks that were removed.
Result<PassResult> make_in_loops(Module& module, const Target& target, MadeInLoops what);

}  // namespace lowtide::engine
